package io.timingwheel.spring.aop.delayed;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Turns the calls of one method into tasks.
 */
interface MethodCalls {

	/**
	 * Schedules the body of a call.
	 * @return what the method returns
	 * @throws Throwable if the call is refused
	 */
	@Nullable Object schedule(MethodInvocation invocation) throws Throwable;

}
