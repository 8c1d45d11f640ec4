package io.timingwheel.spring.task.internal;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiConsumer;

import org.apache.commons.logging.Log;

/**
 * Reads exceptions of the application's code. Such an exception may override any method
 * of {@link Throwable}: the method may throw, never end its recursion, or return
 * {@code null}. Whatever it does, a task that has ended must be settled.
 */
public final class UserErrors {

	private UserErrors() {
	}

	/** The text of an exception. Never throws. */
	public static String describe(Throwable error) {
		try {
			String text = error.toString();
			if (text != null) {
				return text;
			}
		}
		catch (Throwable ex) {
			// The name of the class has to do.
		}
		return error.getClass().getName();
	}

	/** Logs an exception of a hook: the first at WARN, further ones at DEBUG. */
	public static void warnOnce(Log logger, AtomicBoolean warned, String message, Throwable error) {
		if (warned.compareAndSet(false, true)) {
			log(logger::warn, message + ". Further ones are logged at DEBUG", error);
		}
		else {
			log(logger::debug, message, error);
		}
	}

	/** Logs an exception, or its text alone if one of its methods throws. */
	public static void log(BiConsumer<Object, Throwable> logMethod, String message, Throwable error) {
		try {
			logMethod.accept(message, error);
		}
		catch (Throwable ex) {
			logMethod.accept(message + ": " + describe(error), ex);
		}
	}

}
