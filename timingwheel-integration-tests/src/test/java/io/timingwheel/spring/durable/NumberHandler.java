package io.timingwheel.spring.durable;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ReflectionUtils;

/**
 * A handler of tasks that take a number.
 *
 * @param name the name of the tasks
 * @param aliases earlier names of the tasks
 * @param missed what becomes of missed times
 * @param body the body of each task
 * @param executor where the tasks run
 * @param expireAfter by how much a task may be late, {@code null} for any time
 * @param payloads reads the numbers
 */
record NumberHandler(String name, List<String> aliases, Missed missed, NumberBody body,
		Supplier<? extends Executor> executor, @Nullable Duration expireAfter,
		MethodPayloads payloads) implements DurableHandler {

	private static final Method METHOD = Objects
		.requireNonNull(ReflectionUtils.findMethod(NumberHandler.class, "run", int.class));

	NumberHandler(String name, NumberBody body, Executor executor, PayloadCodec codec) {
		this(name, List.of(), Missed.ONCE, body, () -> executor, null,
				codec.payloads(List.of(name), METHOD, List.of(int.class)));
	}

	NumberHandler aliases(String... aliases) {
		return new NumberHandler(this.name, List.of(aliases), this.missed, this.body, this.executor, this.expireAfter,
				this.payloads);
	}

	NumberHandler missed(Missed missed) {
		return new NumberHandler(this.name, this.aliases, missed, this.body, this.executor, this.expireAfter,
				this.payloads);
	}

	NumberHandler expiringAfter(@Nullable Duration expireAfter) {
		return new NumberHandler(this.name, this.aliases, this.missed, this.body, this.executor, expireAfter,
				this.payloads);
	}

	@Override
	public Method method() {
		return METHOD;
	}

	@Override
	public @Nullable Object[] arguments(String payload) throws Exception {
		return this.payloads.decode(payload);
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Exception {
		run((Integer) arguments[0]);
		return null;
	}

	private void run(int number) throws Exception {
		this.body.run(number, DelayedTaskContext.current().orElseThrow());
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
	}

}
