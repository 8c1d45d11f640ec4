package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Objects;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/** Finds how Spring adapts a type to a publisher. */
final class ReactiveTypes {

	private static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux",
			ReactiveTypes.class.getClassLoader());

	private ReactiveTypes() {
	}

	/**
	 * Checks that advice sees the completion of what a method returns, if this is a
	 * publisher or that of a suspend function.
	 * @param type the declared type of the result
	 * @param otherwise another remedy, as the end of a sentence
	 * @return finds the adapter of a result; {@code null} if the method returns no
	 * publisher
	 */
	static @Nullable Function<Object, ReactiveAdapter> adapters(String annotation, Method method, Class<?> type,
			String otherwise) {
		ReactiveAdapterRegistry registry = ReactiveAdapterRegistry.getSharedInstance();
		if (KotlinDetector.isSuspendingFunction(method)) {
			Refusal.when(!ClassUtils.isPresent("kotlinx.coroutines.reactor.MonoKt", null), method, annotation
					+ " is on a suspend function, whose completion Spring shows only with kotlinx-coroutines-reactor",
					"add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor" + otherwise);
			return (result) -> Objects.requireNonNull(registry.getAdapter(null, result));
		}
		ReactiveAdapter adapter = registry.getAdapter(type);
		if (adapter == null) {
			return null;
		}
		String problem = "%s is on a method that returns %s, ".formatted(annotation, type.getName());
		Refusal.when(!REACTOR_PRESENT, method, problem + "whose completion is seen only with Reactor",
				"add the dependency io.projectreactor:reactor-core" + otherwise);
		Refusal.when(!type.isAssignableFrom(adapter.getReactiveType()), method,
				problem + "which hides the completion of its subscriptions",
				"return " + adapter.getReactiveType().getSimpleName() + otherwise);
		return (result) -> adapter;
	}

}
