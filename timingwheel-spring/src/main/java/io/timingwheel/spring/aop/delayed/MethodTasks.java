package io.timingwheel.spring.aop.delayed;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one {@code @Delayed} method: submits the calls of the method, and runs
 * them later.
 */
interface MethodTasks {

	/**
	 * Submits a call.
	 * @return what the method returns to its caller
	 * @throws Throwable if the call is refused
	 */
	@Nullable Object submit(MethodInvocation invocation) throws Throwable;

}
