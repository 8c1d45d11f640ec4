package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.memory.DefaultDelayedTaskTemplate;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} or {@code @Recurring} method whose calls are stored.
 *
 * @param argumentTypes the types of the arguments, as the class of the bean resolves them
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

	/** Stores the tasks of annotated methods. A bean if there is a store. Thread-safe. */
	public interface Store extends DefaultDelayedTaskTemplate.Store {

		/**
		 * Lets the stored calls of a method run here, by the first registration.
		 * @throws InvalidAnnotatedMethodException if its calls cannot be stored, or
		 * cannot run as it demands
		 */
		StoredCalls register(DurableMethod method);

		/**
		 * Declares the schedule of a method, which is stored when the node starts.
		 * @param initialDelay when the first run is due after the schedule is stored for
		 * the first time, {@code null} for the first time of the schedule
		 */
		void registerSchedule(DurableMethod method, Schedule schedule, @Nullable Duration initialDelay);

		/**
		 * When a call is due: after a delay by the clock that keeps the task, or at a
		 * time.
		 *
		 * @param delay of no meaning if there is a time
		 */
		record CallTime(Duration delay, @Nullable Instant time) {

		}

		interface StoredCalls {

			/** Gives the task, or the pending task that it gave way to. */
			DelayedTask<@Nullable Void> store(@Nullable Object key, IfPending ifPending, @Nullable Duration maxWait,
					CallTime due, @Nullable Object[] arguments);

		}

	}

}
