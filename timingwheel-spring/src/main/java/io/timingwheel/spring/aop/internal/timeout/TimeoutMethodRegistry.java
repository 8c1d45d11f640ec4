package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.stream.Collectors;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.internal.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import io.timingwheel.spring.aop.internal.ProxyRules;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The methods with {@link Timeout} and their time limits. Each class is read and checked
 * once. Thread-safe.
 */
public final class TimeoutMethodRegistry implements AnnotatedMethodScanner.Reader {

	private static final Log logger = LogFactory.getLog(TimeoutMethodRegistry.class);

	private final AnnotatedMethods<Timeout> annotated = new AnnotatedMethods<>(Timeout.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final ProxyRules rules;

	private final TimeoutOverrides overrides;

	/** The names of the methods of the beans, as {@code bean.method}. */
	private final Set<String> names = ConcurrentHashMap.newKeySet();

	/** The classes for which a warning has been logged. */
	private final Set<Class<?>> warned = ConcurrentHashMap.newKeySet();

	private final Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final List<Consumer<? super Method>> listeners = new CopyOnWriteArrayList<>();

	TimeoutMethodRegistry(ConfigurableListableBeanFactory beanFactory, TimeoutOverrides overrides) {
		this.beanFactory = beanFactory;
		this.overrides = overrides;
		this.rules = new ProxyRules(beanFactory);
	}

	Pointcut pointcut() {
		return this.annotated.pointcut();
	}

	int adviceOrder() {
		return this.overrides.adviceOrder();
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		Set<Method> methods = of(beanClass).keySet();
		Set<Method> defaults = this.annotated.defaults(beanClass);
		String publicName = AnnotatedMethodScanner.publicName(beanName);
		List<InvalidAnnotatedMethodException> unlimited = new ArrayList<>();
		for (Method method : methods) {
			this.names.add(publicName + "." + method.getName());
			try {
				this.rules.check("@Timeout", method, beanClass, beanName);
			}
			catch (InvalidAnnotatedMethodException ex) {
				if (!defaults.contains(method)) {
					throw ex;
				}
				unlimited.add(ex);
			}
		}
		if (!unlimited.isEmpty() && unlimited.size() == methods.size()) {
			throw unlimited.get(0);
		}
		if (!unlimited.isEmpty() && this.warned.add(beanClass)) {
			warn(beanClass, unlimited);
		}
	}

	/**
	 * Warns of the methods that have no limit although their class has one. They do not
	 * stop the start, because the annotation is not on these methods.
	 */
	private static void warn(Class<?> beanClass, List<InvalidAnnotatedMethodException> unlimited) {
		String names = unlimited.stream()
			.map((ex) -> ex.getMethod().getName() + "()")
			.distinct()
			.sorted()
			.collect(Collectors.joining(", "));
		logger.warn(("The @Timeout of %s does not limit %s. A proxy cannot intercept a final method, or a method "
				+ "that is not in its interfaces")
			.formatted(beanClass.getName(), names));
	}

	@Override
	public void resolveWithBeans() {
		this.classes.values().forEach((limits) -> limits.values().forEach(TimeLimit::resolve));
		this.overrides.checkNames(this.names);
	}

	TimeLimit find(Method method, Class<?> targetClass, String beanName) {
		TimeLimit limit = of(targetClass).get(AnnotatedMethods.mostSpecific(method, targetClass));
		Assert.state(limit != null, () -> "No @Timeout on " + method);
		Duration override = this.overrides.find(AnnotatedMethodScanner.publicName(beanName), limit.method().getName());
		return (override != null) ? limit.replacedBy(override) : limit;
	}

	/**
	 * Calls a listener for each method with a limit: at once for the known methods, later
	 * for each new one. May call it more than once for a method.
	 */
	public void onMethod(Consumer<? super Method> listener) {
		this.listeners.add(listener);
		this.classes.values().forEach((limits) -> limits.keySet().forEach(listener));
	}

	private Map<Method, TimeLimit> of(Class<?> beanClass) {
		return this.classes.computeIfAbsent(ClassUtils.getUserClass(beanClass), (type) -> {
			Map<Method, TimeLimit> limits = new HashMap<>();
			this.annotated.of(type)
				.forEach((method, annotation) -> limits.put(method, TimeLimit.read(method, type, annotation,
						fallback(method, annotation, type), this.beanFactory)));
			this.listeners.forEach((listener) -> limits.keySet().forEach(listener));
			return limits;
		});
	}

	private @Nullable Fallback fallback(Method method, Timeout annotation, Class<?> type) {
		if (!StringUtils.hasText(annotation.fallback())) {
			return null;
		}
		Fallback fallback = Fallback.find(method, annotation.fallback(), type);
		if (fallback == null || !fallback.method().equals(method)) {
			return fallback;
		}
		if (!this.annotated.defaults(type).contains(method)) {
			throw new InvalidAnnotatedMethodException(method, "the fallback of @Timeout is the method itself",
					"name another method with the same parameters");
		}
		return null;
	}

}
