package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.BeanTypes;

import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanFactoryPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * Registers and checks the methods with {@link Delayed} and {@link CancelDelayed} of all
 * beans before any bean is made: from their types, so that lazy beans stay so. What
 * depends on beans is settled once the singletons are there.
 */
public final class DelayedMethodScanner implements BeanFactoryPostProcessor, SmartInitializingSingleton {

	private final DelayedMethodRegistry delayed;

	private final CancelDelayedMethodRegistry cancelling;

	private final DelayedRuntime runtime;

	/**
	 * Creates a scanner.
	 * @param delayed what is scheduled
	 * @param cancelling what cancels
	 * @param runtime where names are declared
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
				AnnotatedDurableHandler.register(method, this.runtime);
			}
		});
	}

}
