package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
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
	 * @return the name
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
	 * @return the method
	 */
	Method method();

	/**
	 * The types of the arguments, by position, with type variables resolved against the
	 * class of the bean.
	 * @return the types
	 */
	List<Type> argumentTypes();

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
	 * @return what to do with them
	 */
	default Missed missed() {
		return Missed.ONCE;
	}

	/**
	 * Whether the only task of the method is the schedule that it declares. A task or a
	 * schedule with another key would run beside this one.
	 * @return {@code true} for a method that never overlaps itself
	 */
	default boolean hasOneSchedule() {
		return false;
	}

	/**
	 * The transactions in which the bodies run and their tasks are acknowledged.
	 * @return the transactions, {@code null} if tasks are acknowledged after their bodies
	 */
	default @Nullable TransactionalBodies transactions() {
		return null;
	}

	/**
	 * Runs the body within all other advice of the method, such as a transaction.
	 * @param arguments the arguments
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	/**
	 * Tells the application's exception handler that the task has failed for good, or
	 * could not be stored after the commit.
	 * @param error the last exception of the body, or the exception of the store
	 * @param arguments the arguments, empty if they could not be read
	 */
	void handleError(Throwable error, @Nullable Object[] arguments);

}
