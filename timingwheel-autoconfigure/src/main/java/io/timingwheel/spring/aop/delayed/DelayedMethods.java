package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The methods with {@link Delayed} of all beans, by bean and by name. Filled at startup
 * from the beans' types; what a type did not show is added when the bean is made.
 * Thread-safe.
 */
public final class DelayedMethods {

	private final AnnotatedMethods<Delayed> annotated = new AnnotatedMethods<>(Delayed.class);

	private final Map<String, DelayedMethod> byName = new ConcurrentHashMap<>();

	private final Map<String, Map<Method, DelayedMethod>> byBean = new ConcurrentHashMap<>();

	private final DelayedMethodReader reader;

	/**
	 * Creates an empty registry.
	 * @param beanFactory resolves what annotations refer to
	 */
	public DelayedMethods(ConfigurableListableBeanFactory beanFactory) {
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
	 * @throws InvalidAnnotatedMethodException if one cannot take effect, or its name is
	 * taken
	 */
	Map<Method, DelayedMethod> register(Class<?> beanClass, String beanName) {
		Map<Method, Delayed> annotations = this.annotated.of(beanClass);
		if (annotations.isEmpty()) {
			return Map.of();
		}
		return this.byBean.compute(beanName, (name, known) -> {
			if (known != null && known.keySet().equals(annotations.keySet())) {
				return known;
			}
			Map<Method, DelayedMethod> methods = new HashMap<>();
			annotations.forEach((method, annotation) -> {
				DelayedMethod delayed = this.reader.read(method, annotation, beanClass, new BeanName(name));
				claimName(delayed);
				methods.put(method, delayed);
			});
			return methods;
		});
	}

	private void claimName(DelayedMethod delayed) {
		DelayedMethod holder = this.byName.merge(delayed.name(), delayed,
				(first, second) -> isSame(first, second) ? second : first);
		if (holder != delayed) {
			throw new InvalidAnnotatedMethodException(delayed.method(),
					"the name \"%s\" of @Delayed belongs to %s already".formatted(delayed.name(),
							InvalidAnnotatedMethodException.describe(holder.method())),
					"give each method a name of its own");
		}
	}

	/**
	 * Whether these are one method: of two beans of one class, or of one bean whose type
	 * was known less precisely at first.
	 */
	private static boolean isSame(DelayedMethod first, DelayedMethod second) {
		Method method = first.method();
		return method.equals(second.method())
				|| (first.beanName().equals(second.beanName()) && method.getName().equals(second.method().getName())
						&& Arrays.equals(method.getParameterTypes(), second.method().getParameterTypes()));
	}

	/**
	 * Resolves the delays that depend on beans.
	 */
	void resolve() {
		this.byBean.values().forEach((methods) -> methods.values().forEach((method) -> method.delay().resolve()));
	}

	Collection<String> names() {
		return this.byName.keySet();
	}

}
