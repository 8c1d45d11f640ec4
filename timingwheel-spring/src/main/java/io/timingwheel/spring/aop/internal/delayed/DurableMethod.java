package io.timingwheel.spring.aop.internal.delayed;

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
 *
 * @param argumentTypes the types of the arguments, as the class of the bean resolves them
 * @param executor gives the executor for each run
 * @param missed {@code null} for a {@code @Delayed} method
 * @param body runs the body, within all other advice of the method
 * @param errorHandler takes the error of a task that has failed for good, or could not be
 * stored after the commit. The arguments are empty if they could not be read
 */
public record DurableMethod(String name, List<String> aliases, Method method, List<Type> argumentTypes,
		Supplier<? extends Executor> executor, @Nullable Duration expireAfter, boolean transactional,
		@Nullable Missed missed, Body body, BiConsumer<Throwable, @Nullable Object[]> errorHandler) {

	/** Whether the only task of the method is the schedule that it declares. */
	public boolean recurring() {
		return this.missed != null;
	}

	@FunctionalInterface
	public interface Body {

		@Nullable Object invoke(@Nullable Object[] arguments) throws Throwable;

	}

}
