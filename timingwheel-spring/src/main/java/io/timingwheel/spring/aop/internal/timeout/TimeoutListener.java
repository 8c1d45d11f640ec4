package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;

/**
 * Is notified of each call that exceeded its limit: on the thread that gets the
 * exception, or that completes the future. Implementations are thread-safe.
 */
@FunctionalInterface
public interface TimeoutListener {

	/**
	 * Called when a call has timed out. An exception is logged only.
	 */
	void timedOut(Method method);

}
