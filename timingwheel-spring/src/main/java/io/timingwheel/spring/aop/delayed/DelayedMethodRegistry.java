package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.MethodAttributes;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;

/**
 * The {@link Delayed} methods of all beans, by bean, and the names of all task methods.
 * The registry gets the methods at startup from the types of the beans. If a type does
 * not show a method, the registry gets the method when the bean is created. Thread-safe.
 *
 * @since 0.1
 */
public final class DelayedMethodRegistry implements AnnotatedMethodScanner.Reader {

	private final AnnotatedMethods<Delayed> annotated = new AnnotatedMethods<>(Delayed.class);

	private final Map<String, TaskMethod> byName = new ConcurrentHashMap<>();

	private final Map<String, Map<Method, DelayedMethod>> byBean = new ConcurrentHashMap<>();

	private final DelayedRuntime runtime;

	private final TaskMethodReader reader;

	private volatile boolean beansExist;

	/**
	 * Creates an empty registry.
	 * @param beanFactory resolves the references in annotations
	 * @param runtime takes the methods
	 */
	public DelayedMethodRegistry(ConfigurableListableBeanFactory beanFactory, DelayedRuntime runtime) {
		this.runtime = runtime;
		this.reader = new TaskMethodReader(beanFactory);
	}

	AnnotatedMethods<Delayed> annotated() {
		return this.annotated;
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		register(beanClass, beanName);
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
				if (MethodAttributes.isLiteral(annotation)) {
					claimNames(delayed);
				}
				methods.put(method, delayed);
			});
			return methods;
		});
		if (this.beansExist) {
			read.values().forEach(this::resolve);
		}
		return read;
	}

	@Override
	public void resolveWithBeans() {
		this.beansExist = true;
		List.copyOf(this.byBean.values()).forEach((methods) -> methods.values().forEach(this::resolve));
	}

	/**
	 * Reads the values of a method, and makes its tasks known.
	 */
	private void resolve(DelayedMethod method) {
		claimNames(method);
		if (method.durable()) {
			this.reader.checkScope(method);
			// The interceptor of a proxy makes its own object, and finds the method
			// known.
			new DurableMethodTasks(method, this.runtime);
		}
		else {
			this.runtime.declare(method);
		}
	}

	/**
	 * Claims the names of a method.
	 * @throws InvalidAnnotatedMethodException if one belongs to another method
	 */
	void claimNames(TaskMethod method) {
		claimName(method.name(), method);
		method.common().aliases().forEach((name) -> claimName(name, method));
	}

	private void claimName(String name, TaskMethod method) {
		TaskMethod holder = this.byName.putIfAbsent(name, method);
		if (holder == null || holder == method) {
			return;
		}
		if (!isSame(holder, method)) {
			throw taken(name, method, holder);
		}
		if (method.durable() && !holder.beanName().equals(method.beanName())) {
			throw new InvalidAnnotatedMethodException(method.method(),
					"the durable @Delayed method is in the beans \"%s\" and \"%s\", and a stored call does not say which is to run it"
						.formatted(holder.beanName(), method.beanName()),
					"remove the name, so that each bean has its own, or keep only one of the beans");
		}
		this.byName.put(name, method);
	}

	private static InvalidAnnotatedMethodException taken(String name, TaskMethod method, TaskMethod holder) {
		boolean recurring = method instanceof RecurringMethod;
		String of = InvalidAnnotatedMethodException.describe(holder.method());
		return new InvalidAnnotatedMethodException(method.method(),
				"the name \"%s\" of %s belongs to %s already".formatted(name, method.type(),
						(recurring && holder instanceof DelayedMethod) ? "a @Delayed method"
								: recurring ? "%s of the bean \"%s\"".formatted(of, holder.beanName()) : of),
				"give each method a name of its own");
	}

	/**
	 * Whether these are the same {@code @Delayed} method. Two beans of one class have the
	 * same method. One bean has the same method if it was read first from an interface
	 * and then from the class.
	 */
	private static boolean isSame(TaskMethod first, TaskMethod second) {
		if (first instanceof RecurringMethod || second instanceof RecurringMethod) {
			return false;
		}
		Method method = first.method();
		return method.equals(second.method())
				|| (first.beanName().equals(second.beanName()) && method.getName().equals(second.method().getName())
						&& Arrays.equals(method.getParameterTypes(), second.method().getParameterTypes()));
	}

	/**
	 * Gives the name of a method back, whose bean is gone.
	 */
	void release(TaskMethod method) {
		this.byName.remove(method.name(), method);
	}

	/**
	 * Whether a name or alias is that of a {@code @Delayed} method.
	 */
	boolean hasName(String name) {
		return this.byName.get(name) instanceof DelayedMethod;
	}

	/**
	 * The names and aliases of all {@code @Delayed} methods, sorted.
	 */
	List<String> names() {
		return this.byName.keySet().stream().filter(this::hasName).sorted().toList();
	}

}
