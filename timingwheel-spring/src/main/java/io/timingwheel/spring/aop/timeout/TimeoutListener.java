package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;

/**
 * Is notified of each call that exceeded its time limit. The thread that gets the
 * exception calls the listener, or else the executor that completes the future; the
 * wheel's thread never does. Implementations are thread-safe.
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
