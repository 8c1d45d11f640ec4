package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ClassUtils;

/**
 * Finds how Spring adapts a type to a publisher.
 */
public final class ReactiveTypes {

	public static final boolean REACTOR_PRESENT = ClassUtils.isPresent("reactor.core.publisher.Flux",
			ReactiveTypes.class.getClassLoader());

	/** The search takes long, and each call of a method may need an adapter. */
	private static final ClassValue<Optional<ReactiveAdapter>> ADAPTERS = new ClassValue<>() {

		@Override
		protected Optional<ReactiveAdapter> computeValue(Class<?> type) {
			return Optional.ofNullable(find(type));
		}

	};

	private ReactiveTypes() {
	}

	/**
	 * The adapter of the nearest superclass, {@code null} if the type is not reactive.
	 * Spring's own search finds that of {@code Publisher} for RxJava's {@code Flowable},
	 * which does not lead back to the class.
	 */
	public static @Nullable ReactiveAdapter adapterOf(Class<?> type) {
		return ADAPTERS.get(type).orElse(null);
	}

	private static @Nullable ReactiveAdapter find(Class<?> type) {
		ReactiveAdapterRegistry registry = ReactiveAdapterRegistry.getSharedInstance();
		for (Class<?> candidate = type; candidate != null; candidate = candidate.getSuperclass()) {
			ReactiveAdapter adapter = registry.getAdapter(candidate);
			if (adapter != null && adapter.getReactiveType() == candidate) {
				return adapter;
			}
		}
		return registry.getAdapter(type);
	}

	/**
	 * Checks that advice sees the completion of what a method returns, if this is a
	 * publisher or that of a suspend function.
	 * @param otherwise another remedy, as the end of a sentence
	 */
	public static void check(String annotation, Method method, Class<?> type, String otherwise) {
		Refusal.when(KotlinDetector.isSuspendingFunction(method) && !ClassUtils
			.isPresent("kotlinx.coroutines.reactor.MonoKt", null), method, annotation
					+ " is on a suspend function, whose completion Spring shows only with kotlinx-coroutines-reactor",
				"add the dependency org.jetbrains.kotlinx:kotlinx-coroutines-reactor" + otherwise);
		ReactiveAdapter adapter = adapterOf(type);
		if (adapter != null) {
			String problem = "%s is on a method that returns %s, ".formatted(annotation, type.getName());
			Refusal.when(!REACTOR_PRESENT, method, problem + "whose completion is seen only with Reactor",
					"add the dependency io.projectreactor:reactor-core" + otherwise);
			Refusal.when(!type.isAssignableFrom(adapter.getReactiveType()), method,
					problem + "which hides the completion of its subscriptions",
					"return " + adapter.getReactiveType().getSimpleName() + otherwise);
		}
	}

}
