package io.timingwheel.spring.task;

import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;

/**
 * Handles of tasks.
 */
public final class Handles {

	private Handles() {
	}

	/**
	 * Creates a handle like that of a durable task. It is never done, and the methods
	 * that would show the result do not work.
	 */
	@SuppressWarnings("unchecked")
	public static DelayedTask<@Nullable Void> withoutResult() {
		return (DelayedTask<@Nullable Void>) Proxy.newProxyInstance(Handles.class.getClassLoader(),
				new Class<?>[] { DelayedTask.class }, (handle, method, arguments) -> switch (method.getName()) {
					case "isDone", "isCancelled" -> false;
					default -> throw new UnsupportedOperationException(method.getName());
				});
	}

}
