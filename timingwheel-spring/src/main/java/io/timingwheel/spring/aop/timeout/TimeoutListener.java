package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;

/**
 * Is notified of each call that exceeded its time limit. The listener runs on the thread
 * that gets the exception, or on the executor that completes the future, but never on the
 * wheel's thread. Implementations are thread-safe.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface TimeoutListener {

	/**
	 * Called when a call has timed out. An exception of the listener is logged, and does
	 * not reach the caller.
	 * @param method the most specific method
	 */
	void timedOut(Method method);

}
