package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;

/**
 * Registers and checks the methods with {@link Delayed} and {@link CancelDelayed} of all
 * beans before any bean is made: from their types, so that lazy beans stay so. What
 * depends on beans is settled once the singletons are there.
 */
public final class DelayedMethodScanner implements AnnotatedMethodScanner.Reader {

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
	public void read(Class<?> beanClass, String beanName) {
		this.delayed.register(beanClass, beanName);
		this.cancelling.register(beanClass, beanName);
	}

	@Override
	public void resolveWithBeans() {
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
