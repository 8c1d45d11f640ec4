package io.timingwheel.spring.task.support;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * How to run the tasks of one {@link TaskDefinition}: what they have in common, apart
 * from what each was given.
 *
 * @param <P> what a task was given: the arguments of a call, or the code to run
 */
public interface TaskBody<P> {

	/**
	 * Runs a task.
	 * @param payload what it was given
	 * @return its result; if {@link #flattens()}, perhaps a future for it
	 * @throws Throwable if it fails
	 */
	@Nullable Object run(P payload) throws Throwable;

	/**
	 * Called with what a task has thrown, on the thread that ran it. The future of the
	 * task, if there is one, completes with it afterwards.
	 * @param error what was thrown
	 * @param payload what the task was given
	 */
	default void handleError(Throwable error, P payload) {
	}

	/**
	 * Whether a future that {@link #run} returns stands for the result.
	 * @return whether to wait, without a thread, for a returned future
	 */
	default boolean flattens() {
		return false;
	}

	/**
	 * The annotated method.
	 * @return the method, {@code null} for a task of the template
	 */
	default @Nullable Method method() {
		return null;
	}

}
