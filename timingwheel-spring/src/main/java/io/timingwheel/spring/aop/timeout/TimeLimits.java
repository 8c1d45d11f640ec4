package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.AnnotatedMethodPointcut;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.DurationResolver;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.ProxyRules;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/**
 * The methods that bear {@link Timeout}, on themselves, on the method they override, on
 * an interface or through a composed annotation. Each class is read and checked once.
 * Thread-safe.
 */
public class TimeLimits {

	private final AnnotatedMethods<Timeout> annotated = new AnnotatedMethods<>(Timeout.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final DurationResolver durations;

	private final ProxyRules rules;

	private final Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, TimeLimit> methods = new ConcurrentHashMap<>();

	/**
	 * Creates an empty registry.
	 * @param beanFactory resolves limits
	 */
	public TimeLimits(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.durations = new DurationResolver(beanFactory);
		this.rules = new ProxyRules(beanFactory);
	}

	/**
	 * The annotated methods; their classes are checked.
	 */
	Pointcut pointcut() {
		return new AnnotatedMethodPointcut(this.annotated, (type) -> check(type, null));
	}

	/**
	 * Checks all annotated methods of a class, and that its proxy can intercept them.
	 * @param beanClass the class
	 * @param beanName the name of the bean, if known
	 * @throws InvalidAnnotatedMethodException if one is invalid
	 */
	void check(Class<?> beanClass, @Nullable String beanName) {
		for (Method method : of(beanClass).keySet()) {
			this.rules.check("@Timeout", method, beanClass, beanName);
		}
	}

	/**
	 * Resolves the limits that depend on beans.
	 * @throws InvalidAnnotatedMethodException if one is invalid
	 */
	void resolve() {
		this.classes.values().forEach((limits) -> limits.values().forEach(TimeLimit::resolve));
	}

	/**
	 * The limit of a method.
	 * @param method the method, may be one of an interface
	 * @param targetClass the class of the object that it is called on
	 * @return the limit, {@code null} if it has none
	 */
	@Nullable TimeLimit find(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		TimeLimit limit = this.methods.get(key);
		if (limit == null) {
			limit = of(ClassUtils.getUserClass(targetClass)).get(AnnotatedMethods.mostSpecific(method, targetClass));
			if (limit != null) {
				this.methods.put(key, limit);
			}
		}
		return limit;
	}

	private Map<Method, TimeLimit> of(Class<?> type) {
		Map<Method, TimeLimit> limits = this.classes.get(type);
		if (limits == null) {
			limits = read(type);
			this.classes.put(type, limits);
		}
		return limits;
	}

	private Map<Method, TimeLimit> read(Class<?> type) {
		Map<Method, TimeLimit> limits = new HashMap<>();
		this.annotated.of(type).forEach((method, annotation) -> {
			TimeLimit limit = new TimeLimit(method, annotation, this.durations, this.beanFactory);
			limit.resolveWithoutBeans();
			limits.put(method, limit);
		});
		return limits.isEmpty() ? Map.of() : limits;
	}

}
