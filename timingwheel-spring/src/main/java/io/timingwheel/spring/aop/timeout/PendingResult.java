package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;

import org.jspecify.annotations.Nullable;

/**
 * A future that a call returned before it was done, and that has the rest of the time.
 */
interface PendingResult {

	/**
	 * Begins to follow the future, whose guard has been handed over.
	 * @return what the caller gets in its place
	 */
	Object follow();

	/**
	 * The deadline, on an executor: fails the caller's future and cancels the source.
	 */
	void expire();

	/**
	 * Cancels the source: nobody will get its result.
	 */
	void cancelSource();

	/**
	 * Sorts out what a method returned.
	 * @param result the result
	 * @param declared the return type of the method
	 * @return how to limit it, {@code null} if it is there already
	 */
	static @Nullable PendingResult of(@Nullable Object result, Class<?> declared, InterruptGuard guard,
			TimeoutEvents events) {
		if (result instanceof CompletionStage<?> stage) {
			if (isDone(stage)) {
				return null;
			}
			return (!declared.isAssignableFrom(CompletableFuture.class) && stage instanceof Future<?> future)
					? new LimitedInPlace(future, guard, events) : new LimitedStage<>(stage, guard, events);
		}
		if (result instanceof Future<?> future && !future.isDone()) {
			return declared.isAssignableFrom(LimitedFuture.class) ? new LimitedFuture<>(future, guard, events)
					: new LimitedInPlace(future, guard, events);
		}
		return null;
	}

	private static boolean isDone(CompletionStage<?> stage) {
		try {
			return stage instanceof Future<?> future && future.isDone();
		}
		catch (UnsupportedOperationException ex) {
			// CompletableFuture's minimal stages are futures that do not say.
			return false;
		}
	}

	/**
	 * Cancels a future that nobody will get.
	 * @param result any result
	 */
	static void cancelSource(@Nullable Object result) {
		try {
			if (result instanceof Future<?> future) {
				future.cancel(true);
			}
			else if (result instanceof CompletionStage<?> stage) {
				stage.toCompletableFuture().cancel(true);
			}
		}
		catch (UnsupportedOperationException ex) {
			// A stage that is no future, or is minimal: nothing can cancel it.
		}
	}

}
