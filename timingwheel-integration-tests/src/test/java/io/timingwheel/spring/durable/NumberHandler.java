package io.timingwheel.spring.durable;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.internal.delayed.DurableMethod;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * Makes handlers of tasks that take a number.
 *
 * @param name the name of the tasks
 * @param aliases earlier names of the tasks
 * @param missed what becomes of missed times
 * @param body the body of each task
 * @param executor where the tasks run
 * @param expireAfter by how much a task may be late, {@code null} for any time
 * @param codec reads the numbers
 */
record NumberHandler(String name, List<String> aliases, Missed missed, NumberBody body,
		Supplier<? extends Executor> executor, @Nullable Duration expireAfter, PayloadCodec codec) {

	private static final Method METHOD = Objects
		.requireNonNull(ReflectionUtils.findMethod(NumberHandler.class, "run", int.class));

	NumberHandler(String name, NumberBody body, Executor executor, PayloadCodec codec) {
		this(name, List.of(), Missed.ONCE, body, () -> executor, null, codec);
	}

	NumberHandler aliases(String... aliases) {
		return new NumberHandler(this.name, List.of(aliases), this.missed, this.body, this.executor, this.expireAfter,
				this.codec);
	}

	NumberHandler missed(Missed missed) {
		return new NumberHandler(this.name, this.aliases, missed, this.body, this.executor, this.expireAfter,
				this.codec);
	}

	NumberHandler expiringAfter(@Nullable Duration expireAfter) {
		return new NumberHandler(this.name, this.aliases, this.missed, this.body, this.executor, expireAfter,
				this.codec);
	}

	DurableHandler make() {
		DurableMethod method = new DurableMethod(this.name, this.aliases, METHOD, List.of(int.class), this.executor,
				this.expireAfter, false, null, (arguments) -> {
					run((Integer) arguments[0]);
					return null;
				}, (error, arguments) -> {
				});
		return new DurableHandler(method,
				this.codec.payloads(DurableHandlers.names(method), METHOD, List.of(int.class)), this.missed, null);
	}

	private void run(int number) throws Exception {
		this.body.run(number, DelayedTaskContext.current().orElseThrow());
	}

}
