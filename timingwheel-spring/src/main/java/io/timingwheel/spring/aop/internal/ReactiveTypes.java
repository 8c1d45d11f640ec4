package io.timingwheel.spring.aop.internal;

import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Finds how Spring adapts a type to a publisher.
 */
public final class ReactiveTypes {

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
	 * Returns the adapter of the nearest superclass. Spring's own search gives a class
	 * that is also a {@code Publisher}, such as RxJava's {@code Flowable}, the adapter of
	 * {@code Publisher}, from which there is no way back to the class.
	 * @return the adapter, {@code null} if the type is not reactive
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

}
