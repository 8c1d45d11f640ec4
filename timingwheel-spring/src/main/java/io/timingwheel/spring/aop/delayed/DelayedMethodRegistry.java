package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The {@link Delayed} methods of all beans, by bean and by name. The registry gets the
 * methods at startup from the types of the beans. If a type does not show a method, the
 * registry gets the method when the bean is created. Thread-safe.
 *
 * @since 0.1
 */
public final class DelayedMethodRegistry {

	private final AnnotatedMethods<Delayed> annotated = new AnnotatedMethods<>(Delayed.class);

	private final Map<String, DelayedMethod> byName = new ConcurrentHashMap<>();

	private final Map<String, Map<Method, DelayedMethod>> byBean = new ConcurrentHashMap<>();

	private final DelayedMethodReader reader;

	private volatile @Nullable Consumer<DelayedMethod> listener;

	/**
	 * Creates an empty registry.
	 * @param beanFactory resolves the references in annotations
	 */
	public DelayedMethodRegistry(ConfigurableListableBeanFactory beanFactory) {
		this.reader = new DelayedMethodReader(beanFactory);
	}

	AnnotatedMethods<Delayed> annotated() {
		return this.annotated;
	}

	/**
	 * Reads and checks the annotated methods of a bean.
	 * @param beanClass the class of the bean
	 * @param beanName its name
	 * @return the methods
	 * @throws InvalidAnnotatedMethodException if an annotation cannot take effect, or if
	 * another method has the same name
	 */
	Map<Method, DelayedMethod> register(Class<?> beanClass, String beanName) {
		Map<Method, Delayed> annotations = this.annotated.of(beanClass);
		if (annotations.isEmpty()) {
			return Map.of();
		}
		Map<Method, DelayedMethod> known = this.byBean.get(beanName);
		if (known != null && known.keySet().equals(annotations.keySet())) {
			return known;
		}
		Map<Method, DelayedMethod> read = this.byBean.compute(beanName, (name, former) -> {
			Map<Method, DelayedMethod> methods = new HashMap<>();
			annotations.forEach((method, annotation) -> {
				DelayedMethod delayed = this.reader.read(method, annotation, beanClass, name);
				claimNames(delayed);
				methods.put(method, delayed);
			});
			return methods;
		});
		read.values().forEach(this::callListener);
		return read;
	}

	/**
	 * Claims the names that are known by now. Names that depend on beans follow.
	 */
	private void claimNames(DelayedMethod delayed) {
		delayed.names().resolved().forEach((name) -> claimName(name, delayed));
	}

	private void claimName(String name, DelayedMethod delayed) {
		DelayedMethod holder = this.byName.putIfAbsent(name, delayed);
		if (holder == null) {
			return;
		}
		if (!isSame(holder, delayed)) {
			throw new InvalidAnnotatedMethodException(delayed.method(),
					"the name \"%s\" of @Delayed belongs to %s already".formatted(name,
							InvalidAnnotatedMethodException.describe(holder.method())),
					"give each method a name of its own");
		}
		if (delayed.durable() && !holder.beanName().equals(delayed.beanName())) {
			throw new InvalidAnnotatedMethodException(delayed.method(),
					"the durable @Delayed method is in the beans \"%s\" and \"%s\", and a stored call does not say which is to run it"
						.formatted(holder.beanName(), delayed.beanName()),
					"remove the name, so that each bean has its own, or keep only one of the beans");
		}
		this.byName.put(name, delayed);
	}

	/**
	 * Whether these are the same method. Two beans of one class have the same method. One
	 * bean has the same method if it was read first from an interface and then from the
	 * class.
	 */
	private static boolean isSame(DelayedMethod first, DelayedMethod second) {
		Method method = first.method();
		return method.equals(second.method())
				|| (first.beanName().equals(second.beanName()) && method.getName().equals(second.method().getName())
						&& Arrays.equals(method.getParameterTypes(), second.method().getParameterTypes()));
	}

	/**
	 * Resolves the attributes that depend on beans.
	 */
	void resolve() {
		this.byBean.values().forEach((methods) -> methods.values().forEach(this::resolve));
	}

	private void resolve(DelayedMethod method) {
		method.resolve();
		if (method.durable()) {
			this.reader.checkScope(method);
		}
		claimNames(method);
	}

	/**
	 * The names and aliases of all methods; a live view.
	 */
	Collection<String> names() {
		return this.byName.keySet();
	}

	/**
	 * Calls a listener for each method: at once for the known methods, later for each new
	 * one.
	 */
	void onMethod(Consumer<DelayedMethod> listener) {
		this.listener = listener;
		List.copyOf(this.byBean.values()).forEach((methods) -> methods.values().forEach(this::callListener));
	}

	private void callListener(DelayedMethod method) {
		Consumer<DelayedMethod> listener = this.listener;
		if (listener != null) {
			resolve(method);
			listener.accept(method);
		}
	}

}
