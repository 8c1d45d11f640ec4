package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.internal.DurableMethod;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** Makes handlers of tasks whose payload is a number. */
final class NumberHandler {

	private static final PayloadCodec CODEC = new PayloadCodec(new JsonMapper(), 1_000, List::of);

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
		Method run = Body.class.getDeclaredMethods()[0];
		DurableMethod method = new DurableMethod(name, List.of(), run, List.of(int.class), executor, expireAfter, false,
				null, (arguments) -> {
					body.run((Integer) arguments[0]);
					return null;
				}, (error, arguments) -> onError.run());
		return new DurableHandler(List.of(name), method, CODEC.payloads(List.of(name), run, List.of(int.class)), missed,
				null);
	}

	interface Body {

		void run(int number) throws Throwable;

	}

}
