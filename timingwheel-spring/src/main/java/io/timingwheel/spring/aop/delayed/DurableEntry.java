package io.timingwheel.spring.aop.delayed;

import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

/**
 * Tells the advice of a durable method, on the same thread, that the call at hand is to
 * run the body. It holds for one call: when the body calls the method again, that call is
 * stored.
 */
final class DurableEntry {

	private static final ThreadLocal<@Nullable String> NAME = new ThreadLocal<>();

	private DurableEntry() {
	}

	/**
	 * Makes a call that is let through.
	 * @param name the name of the method's tasks
	 * @param call calls the method
	 */
	static <T extends @Nullable Object> T through(String name, Callable<T> call) throws Exception {
		NAME.set(name);
		try {
			return call.call();
		}
		finally {
			NAME.remove();
		}
	}

	/**
	 * Whether the call at hand is to be let through.
	 */
	static boolean consume(String name) {
		if (name.equals(NAME.get())) {
			NAME.remove();
			return true;
		}
		return false;
	}

}
