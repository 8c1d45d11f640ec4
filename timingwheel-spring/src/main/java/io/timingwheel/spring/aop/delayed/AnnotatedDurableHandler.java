package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.durable.support.DurableHandler;
import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.durable.support.UnsupportedArgumentException;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Runs stored calls of a durable {@code @Delayed} method: looks its bean up, which may
 * have any scope, and calls the method on the proxy, so that all other advice acts on the
 * body.
 */
final class AnnotatedDurableHandler implements DurableHandler {

	private final DelayedMethod method;

	private final DelayedRuntime runtime;

	private final Supplier<Executor> executor;

	private AnnotatedDurableHandler(DelayedMethod method, DelayedRuntime runtime) {
		this.method = method;
		this.runtime = runtime;
		this.executor = runtime.executor(method);
	}

	/**
	 * Makes the handler of a method known, once.
	 * @return the handler
	 * @throws InvalidAnnotatedMethodException if the method takes what cannot be stored
	 */
	static DurableHandler register(DelayedMethod method, DelayedRuntime runtime) {
		DurableTaskManager tasks = runtime.requireDurableTasks();
		DurableHandler known = tasks.handler(method.name());
		if (known != null) {
			return known;
		}
		try {
			return tasks.register(new AnnotatedDurableHandler(method, runtime));
		}
		catch (UnsupportedArgumentException ex) {
			throw new InvalidAnnotatedMethodException(method.method(), ex.getProblem(), ex.getRemedy(), ex);
		}
	}

	@Override
	public String name() {
		return this.method.name();
	}

	@Override
	public List<String> aliases() {
		return this.method.aliases();
	}

	@Override
	public Method method() {
		return this.method.method();
	}

	@Override
	public List<Type> argumentTypes() {
		return this.method.argumentTypes();
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return this.executor;
	}

	@Override
	public @Nullable Duration expireAfter() {
		return this.method.expireAfter();
	}

	@Override
	public @Nullable Object invoke(@Nullable Object[] arguments) throws Throwable {
		Object bean = this.runtime.bean(this.method.beanName());
		Method invocable = AopUtils.selectInvocableMethod(this.method.method(), bean.getClass());
		ReflectionUtils.makeAccessible(invocable);
		try {
			return DurableEntry.through(name(), () -> invocable.invoke(bean, arguments));
		}
		catch (InvocationTargetException ex) {
			throw ex.getTargetException();
		}
	}

	@Override
	public void handleError(Throwable error, @Nullable Object[] arguments) {
		this.runtime.uncaught(error, this.method.method(), arguments);
	}

}
