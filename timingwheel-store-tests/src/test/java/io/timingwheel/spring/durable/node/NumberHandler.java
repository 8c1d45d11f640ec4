package io.timingwheel.spring.durable.node;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Runs the tasks of a name, whose payload is a number.
 */
record NumberHandler(String name, Body body, Executor anExecutor, @Nullable Duration expireAfter,
		Missed missed) implements DurableHandler {

	NumberHandler(String name, Body body) {
		this(name, body, Runnable::run, null, Missed.ONCE);
	}

	@Override
	public Method method() {
		return NumberHandler.class.getDeclaredMethods()[0];
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return () -> this.anExecutor;
	}

	@Override
	public Object[] arguments(String payload) {
		return new Object[] { Integer.valueOf(payload) };
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		this.body.run((Integer) arguments[0]);
		return null;
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
	}

	interface Body {

		void run(int number) throws Throwable;

	}

}
