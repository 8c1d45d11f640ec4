package io.timingwheel.spring.aop.internal.timeout;

/**
 * Carries the stack that the thread of a call had at the deadline, and is suppressed in
 * the timeout of that call.
 */
final class StackAtDeadline extends Exception {

	private static final long serialVersionUID = 1L;

	StackAtDeadline(Thread thread, StackTraceElement[] stack) {
		super("Thread \"%s\" at the deadline".formatted(thread.getName()), null, false, true);
		setStackTrace(stack);
	}

}
