package io.timingwheel.spring.durable;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * A handler of tasks that take a number.
 *
 * @param name the name of the tasks
 * @param aliases earlier names of the tasks
 * @param missed what becomes of missed times
 * @param body the body of each task, {@code null} if no task runs
 * @param executor where the tasks run
 * @param onError called with the last exception of a task that has failed for good
 * @param expireAfter by how much a task may be late, {@code null} for any time
 * @param payloads reads the numbers
 */
record NumberHandler(String name, List<String> aliases, Missed missed, @Nullable NumberBody body,
		Supplier<? extends Executor> executor, Consumer<Throwable> onError, @Nullable Duration expireAfter,
		MethodPayloads payloads) implements DurableHandler {

	private static final Method METHOD = find();

	NumberHandler(String name, List<String> aliases, Missed missed, @Nullable NumberBody body,
			Supplier<? extends Executor> executor, Consumer<Throwable> onError, @Nullable Duration expireAfter,
			PayloadCodec codec) {
		this(name, aliases, missed, body, executor, onError, expireAfter,
				codec.payloads(List.of(name), METHOD, List.of(int.class)));
	}

	NumberHandler(String name, Missed missed, @Nullable NumberBody body, Supplier<? extends Executor> executor,
			Consumer<Throwable> onError, PayloadCodec codec) {
		this(name, List.of(), missed, body, executor, onError, null, codec);
	}

	@Override
	public Method method() {
		return METHOD;
	}

	private static Method find() {
		try {
			return NumberHandler.class.getDeclaredMethod("run", int.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
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

	void run(int argument) throws Exception {
		this.body.run(argument, DelayedTaskContext.current().orElseThrow());
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.onError.accept(error);
	}

}
