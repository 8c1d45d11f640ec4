package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.BeanTypes;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Registers and checks the {@link Delayed} and {@link CancelDelayed} methods of all beans
 * before any bean is made: it reads only the types, so lazy beans stay lazy. Checks that
 * need beans follow once the singletons exist.
 *
 * @since 0.1
 */
public final class DelayedMethodScanner implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private final DelayedMethodRegistry delayed;

	private final CancelDelayedMethodRegistry cancelling;

	private final DelayedRuntime runtime;

	/**
	 * Creates a scanner.
	 * @param delayed takes the {@code @Delayed} methods
	 * @param cancelling takes the {@code @CancelDelayed} methods
	 * @param runtime finds the tasks, where the names are declared
	 */
	public DelayedMethodScanner(DelayedMethodRegistry delayed, CancelDelayedMethodRegistry cancelling,
			DelayedRuntime runtime) {
		this.delayed = delayed;
		this.cancelling = cancelling;
		this.runtime = runtime;
	}

	@Override
	public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
		BeanTypes.forEach(beanFactory, (type, name) -> {
			this.delayed.register(type, name);
			this.cancelling.register(type, name);
		});
	}

	@Override
	public void afterSingletonsInstantiated() {
		this.delayed.resolve();
		this.cancelling.checkNames(this.delayed);
		this.delayed.onMethod((method) -> {
			this.runtime.tasks().declare(method.name());
			if (method.durable()) {
				DurableMethodTasks.register(method, this.runtime);
			}
		});
	}

}
