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

	/**
	 * The name under which tasks are stored.
	 */
	String name();

	/**
	 * Earlier names, under which tasks may still be stored.
	 * @return the earlier names, empty for none
	 */
	default List<String> aliases() {
		return List.of();
	}

	/**
	 * The annotated method.
	 */
	Method method();

	/**
	 * The executor that runs the body.
	 * @return a supplier of the executor, called for each run
	 */
	Supplier<? extends Executor> executor();

	/**
	 * How long after its due time a task may start.
	 * @return the limit, {@code null} for none
	 */
	default @Nullable Duration expireAfter() {
		return null;
	}

	/**
	 * What becomes of the times of a schedule that have passed without a run.
	 */
	default Missed missed() {
		return Missed.ONCE;
	}

	/**
	 * The transactions in which the bodies run and their tasks are settled.
	 * @return the transactions, {@code null} if tasks are settled after their bodies
	 */
	default @Nullable TransactionalBodies transactions() {
		return null;
	}

	/**
	 * Reads the arguments of a task.
	 * @throws Exception if this release cannot read the payload. The text of the
	 * exception becomes the error of the attempt
	 */
	@Nullable Object[] arguments(String payload) throws Exception;

	/**
	 * Runs the body within all other advice of the method, such as a transaction.
	 * @throws Throwable what the body threw
	 */
	@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	/**
	 * Tells the application's exception handler that the task has failed for good, or
	 * could not be stored after the commit.
	 * @param arguments the arguments, empty if they could not be read
	 */
	void handleError(Throwable error, @Nullable Object[] arguments);

}
