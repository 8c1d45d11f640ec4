package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} or {@code @Recurring} method whose calls are stored.
 * Implementations are thread-safe.
 *
 * @since 0.1
 */
public interface DurableMethod {

	/**
	 * The name of its tasks.
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
	 * Whether a body and the acknowledgement of its task commit in one transaction.
	 * @return {@code true} for a method with {@code transactional = true}
	 */
	default boolean transactional() {
		return false;
	}

	/**
	 * Whether the only task of the method is the schedule that it declares.
	 * @return {@code true} for a {@code @Recurring} method
	 */
	default boolean recurring() {
		return false;
	}

	/**
	 * What becomes of the times of a schedule that have passed without a run.
	 * @return what to do with them
	 */
	default Missed missed() {
		return Missed.ONCE;
	}

	/**
	 * Runs the body, within all other advice of the method, such as a transaction.
	 * @param arguments the arguments
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	/**
	 * Tells the application's exception handler that a task has failed for good, or could
	 * not be stored after the commit.
	 * @param error the last exception of the body, or the exception of the store
	 * @param arguments the arguments, empty if they could not be read
	 */
	void handleError(Throwable error, @Nullable Object[] arguments);

}
