package io.timingwheel.spring.durable.call;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.delayed.DurableMethod;
import io.timingwheel.spring.durable.support.DurableHandler;
import io.timingwheel.spring.durable.support.TransactionalBodies;
import io.timingwheel.spring.task.Missed;
import org.jspecify.annotations.Nullable;

/**
 * Runs the stored calls of an annotated method.
 *
 * @param durable the method
 * @param transactions the transactions in which its bodies run, {@code null} if tasks are
 * acknowledged after their bodies
 */
record MethodHandler(DurableMethod durable, @Nullable TransactionalBodies transactions) implements DurableHandler {

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
	public List<Type> argumentTypes() {
		return this.durable.argumentTypes();
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
		return this.durable.missed();
	}

	@Override
	public boolean hasOneSchedule() {
		return this.durable.recurring();
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		return this.durable.invoke(arguments);
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.durable.handleError(error, arguments);
	}

}
