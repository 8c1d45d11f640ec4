package io.timingwheel.spring.aop.delayed;

import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;

/**
 * Registers and checks the {@link Delayed} and {@link CancelDelayed} methods of all beans
 * before any bean is created. The scanner reads only the types, so lazy beans stay lazy.
 * Checks that need beans follow once the singletons exist.
 *
 * @since 0.1
 */
public final class DelayedMethodScanner implements AnnotatedMethodScanner.Reader {

	private final DelayedMethodRegistry delayed;

	private final CancelDelayedMethodRegistry cancelling;

	private final DelayedRuntime runtime;

	/**
	 * Creates a scanner.
	 * @param delayed takes the {@code @Delayed} methods
	 * @param cancelling takes the {@code @CancelDelayed} methods
	 * @param runtime gives the registry of tasks, where the names are declared
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
			this.runtime.declare(method);
			if (method.durable()) {
				// The interceptor of a proxy makes its own object, and finds the method
				// known.
				new DurableMethodTasks(method, this.runtime);
			}
		});
	}

}
