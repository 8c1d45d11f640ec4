package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} or {@code @Recurring} method whose calls are stored.
 * Thread-safe.
 *
 * @param name the name of its tasks
 * @param aliases earlier names, under which tasks may still be stored
 * @param method the annotated method
 * @param argumentTypes the types of the arguments, with type variables resolved against
 * the class of the bean
 * @param executor gives the executor that runs the body, for each run
 * @param expireAfter how late a task may start, {@code null} for no limit
 * @param transactional whether a body and the acknowledgement of its task commit in one
 * transaction
 * @param missed what becomes of the missed times of the schedule that is the only task of
 * the method; {@code null} for a {@code @Delayed} method
 * @param body runs the body, within all other advice of the method
 * @param errorHandler tells the application's exception handler that a task has failed
 * for good, or could not be stored after the commit. The arguments are empty if they
 * could not be read
 * @since 0.1
 */
public record DurableMethod(String name, List<String> aliases, Method method, List<Type> argumentTypes,
		Supplier<? extends Executor> executor, @Nullable Duration expireAfter, boolean transactional,
		@Nullable Missed missed, Body body, BiConsumer<Throwable, @Nullable Object[]> errorHandler) {

	/**
	 * Returns whether the only task of the method is the schedule that it declares.
	 * @return {@code true} for a {@code @Recurring} method
	 */
	public boolean recurring() {
		return this.missed != null;
	}

	/**
	 * The body of a method.
	 *
	 * @since 0.1
	 */
	@FunctionalInterface
	public interface Body {

		@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	}

}
