package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;

/**
 * Hears of each call that exceeded its limit. Called by the thread that gets the
 * exception, or by the executor that completes the future; never by the wheel.
 */
@FunctionalInterface
public interface TimeoutListener {

	/**
	 * A call has timed out.
	 * @param method the most specific method
	 */
	void timedOut(Method method);

}
