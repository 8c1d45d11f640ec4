package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * What runs the durable tasks of a name on this node. Thread-safe.
 */
public interface DurableHandler {

	/**
	 * The name under which tasks are stored.
	 * @return the name
	 */
	String name();

	/**
	 * Earlier names, under which tasks may still be stored.
	 * @return the earlier names
	 */
	List<String> aliases();

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
	 * Where the body runs; asked whenever it is needed.
	 * @return gives the executor
	 */
	Supplier<? extends Executor> executor();

	/**
	 * How late a task may start.
	 * @return the duration, {@code null} for no limit
	 */
	@Nullable Duration expireAfter();

	/**
	 * Runs the body, within all other advice of the method, such as a transaction.
	 * @param arguments the arguments
	 * @return what the body returned
	 * @throws Throwable what the body threw
	 */
	@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	/**
	 * Tells the handler of uncaught exceptions that the task has failed for good.
	 * @param error what the body threw last
	 * @param arguments the arguments
	 */
	void handleError(Throwable error, @Nullable Object[] arguments);

}
