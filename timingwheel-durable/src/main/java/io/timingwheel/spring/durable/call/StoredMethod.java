package io.timingwheel.spring.durable.call;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.delayed.DurableMethod;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.TransactionalBodies;
import io.timingwheel.spring.durable.payload.MethodPayloads;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/** Runs the stored calls of an annotated method. */
record StoredMethod(DurableMethod durable, MethodPayloads payloads,
		@Nullable TransactionalBodies transactions) implements DurableHandler {

	@Override
	public String name() {
		return this.durable.name();
	}

	@Override
	public List<String> aliases() {
		return this.durable.aliases();
	}

	@Override
	public Method method() {
		return this.durable.method();
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return this.durable.executor();
	}

	@Override
	public @Nullable Duration expireAfter() {
		return this.durable.expireAfter();
	}

	@Override
	public Missed missed() {
		Missed missed = this.durable.missed();
		return (missed != null) ? missed : DurableHandler.super.missed();
	}

	@Override
	public @Nullable Object[] arguments(String payload) throws Exception {
		return this.payloads.decode(payload);
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		return this.durable.body().invoke(arguments);
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.durable.errorHandler().accept(error, arguments);
	}

}
