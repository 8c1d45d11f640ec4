package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.internal.DurableMethod;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Makes handlers of tasks whose payload is a number.
 */
final class NumberHandler {

	private NumberHandler() {
	}

	static DurableHandler of(String name, Body body) {
		return of(name, body, Runnable::run, null, Missed.ONCE);
	}

	static DurableHandler of(String name, Body body, Executor executor, @Nullable Duration expireAfter, Missed missed) {
		return of(name, body, () -> executor, expireAfter, missed, () -> {
		});
	}

	static DurableHandler of(String name, Body body, Supplier<Executor> executor, @Nullable Duration expireAfter,
			Missed missed, Runnable onError) {
		DurableMethod method = new DurableMethod(name, List.of(), NumberHandler.class.getDeclaredMethods()[0],
				List.of(int.class), executor, expireAfter, false, null, (arguments) -> {
					body.run((Integer) arguments[0]);
					return null;
				}, (error, arguments) -> onError.run());
		return new DurableHandler(List.of(name), method, new DurableHandler.Arguments() {

			@Override
			public String encode(@Nullable Object[] arguments) {
				return String.valueOf(arguments[0]);
			}

			@Override
			public @Nullable Object[] decode(String payload) {
				return new Object[] { Integer.valueOf(payload) };
			}

		}, missed, null);
	}

	interface Body {

		void run(int number) throws Throwable;

	}

}
