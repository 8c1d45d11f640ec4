package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Runs the durable tasks of a name on this node. Thread-safe.
 *
 * @since 0.1
 */
public interface DurableHandler {

	String name();

	/** Earlier names, under which tasks may still be stored. */
	default List<String> aliases() {
		return List.of();
	}

	Method method();

	/** Called for each run. */
	Supplier<? extends Executor> executor();

	/** How long after its due time a task may start, {@code null} for no limit. */
	default @Nullable Duration expireAfter() {
		return null;
	}

	/** What becomes of the times of a schedule that have passed without a run. */
	default Missed missed() {
		return Missed.ONCE;
	}

	/** {@code null} if tasks are settled after their bodies. */
	default @Nullable TransactionalBodies transactions() {
		return null;
	}

	/**
	 * @throws Exception whose text becomes the error of the attempt
	 */
	@Nullable Object[] arguments(String payload) throws Exception;

	/** Runs the body within all other advice of the method. */
	@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	/**
	 * The task has failed for good, or could not be stored after the commit.
	 * @param arguments empty if they could not be read
	 */
	void handleError(Throwable error, @Nullable Object[] arguments);

}
