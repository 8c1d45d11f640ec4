package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.AttributeResolver;
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
public final class TimeoutMethods implements AnnotatedMethodScanner.Reader {

	private final AnnotatedMethods<Timeout> annotated = new AnnotatedMethods<>(Timeout.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final AttributeResolver attributes;

	private final ProxyRules rules;

	private final Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, TimeLimit> methods = new ConcurrentHashMap<>();

	/**
	 * Creates an empty registry.
	 * @param beanFactory resolves limits
	 */
	public TimeoutMethods(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.attributes = new AttributeResolver(beanFactory);
		this.rules = new ProxyRules(beanFactory);
	}

	/**
	 * The annotated methods; their classes are checked.
	 */
	Pointcut pointcut() {
		return this.annotated.pointcut((type) -> check(type, null));
	}

	@Override
	public void read(Class<?> beanClass, String beanName) {
		check(beanClass, beanName);
	}

	@Override
	public void resolveWithBeans() {
		this.classes.values().forEach((limits) -> limits.values().forEach(TimeLimit::resolve));
	}

	private void check(Class<?> beanClass, @Nullable String beanName) {
		for (Method method : of(beanClass).keySet()) {
			this.rules.check("@Timeout", method, beanClass, beanName);
		}
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
			TimeLimit limit = new TimeLimit(method, annotation, this.attributes, this.beanFactory);
			limit.resolveWithoutBeans();
			limits.put(method, limit);
		});
		return limits.isEmpty() ? Map.of() : limits;
	}

}
