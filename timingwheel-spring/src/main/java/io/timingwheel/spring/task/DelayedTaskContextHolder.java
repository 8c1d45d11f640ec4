package io.timingwheel.spring.task;

import org.jspecify.annotations.Nullable;

/**
 * Keeps the {@link DelayedTaskContext} of the current thread. Applications read the
 * context by {@link DelayedTaskContext#current()}.
 *
 * @since 0.1
 */
public final class DelayedTaskContextHolder {

	private static final ThreadLocal<@Nullable DelayedTaskContext> CONTEXT = new ThreadLocal<>();

	private DelayedTaskContextHolder() {
	}

	/**
	 * The context of the current thread, {@code null} outside of a body.
	 */
	public static @Nullable DelayedTaskContext get() {
		return CONTEXT.get();
	}

	/**
	 * Sets the context of the current thread, {@code null} for none.
	 */
	public static void set(@Nullable DelayedTaskContext context) {
		if (context != null) {
			CONTEXT.set(context);
		}
		else {
			CONTEXT.remove();
		}
	}

}
