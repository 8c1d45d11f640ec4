package io.timingwheel;

import java.util.concurrent.RejectedExecutionException;
import java.util.stream.Stream;

/** Exceptions and errors that tasks and executors may throw. */
final class Throwables {

	private Throwables() {
	}

	static Stream<Throwable> ofEachKind() {
		return Stream.of(new RejectedExecutionException("on purpose"), new IllegalStateException("on purpose"),
				new AssertionError("on purpose"), new OutOfMemoryError("on purpose"),
				new StackOverflowError("on purpose"), new Exception("checked, on purpose"),
				new InterruptedException("on purpose"));
	}

	/** Throws an exception or error without wrapping it, even if it is checked. */
	@SuppressWarnings("unchecked")
	static <T extends Throwable> RuntimeException sneaky(Throwable thrown) throws T {
		throw (T) thrown;
	}

}
