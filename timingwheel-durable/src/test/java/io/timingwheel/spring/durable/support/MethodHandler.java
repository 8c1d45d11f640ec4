package io.timingwheel.spring.durable.support;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Supplier;

/**
 * A handler that has the signature of a method and does nothing.
 */
record MethodHandler(String name, List<String> aliases, Method method) implements DurableHandler {

	/**
	 * Finds the only method with a name.
	 */
	static MethodHandler of(Class<?> type, String method) {
		return new MethodHandler("handler-of-" + method, List.of("earlier-" + method),
				Arrays.stream(type.getDeclaredMethods())
					.filter((candidate) -> candidate.getName().equals(method))
					.findFirst()
					.orElseThrow());
	}

	@Override
	public List<Type> argumentTypes() {
		return List.of(this.method.getGenericParameterTypes());
	}

	@Override
	public Supplier<? extends Executor> executor() {
		return () -> Runnable::run;
	}

	@Override
	public Duration expireAfter() {
		return null;
	}

	@Override
	public Object invoke(Object[] arguments) {
		return null;
	}

	@Override
	public void handleError(Throwable error, Object[] arguments) {
	}

}
