package io.timingwheel.spring.aop;

import org.jspecify.annotations.Nullable;

import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;

/**
 * Finds how Spring adapts a type to a publisher.
 *
 * @since 0.1
 */
public final class ReactiveTypes {

	private ReactiveTypes() {
	}

	/**
	 * Returns the adapter of the nearest superclass. Spring's own search gives a class
	 * that is also a {@code Publisher}, such as RxJava's {@code Flowable}, the adapter of
	 * {@code Publisher}, from which there is no way back to the class.
	 * @param type the type
	 * @return the adapter, {@code null} if the type is not reactive
	 */
	public static @Nullable ReactiveAdapter adapterOf(Class<?> type) {
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
