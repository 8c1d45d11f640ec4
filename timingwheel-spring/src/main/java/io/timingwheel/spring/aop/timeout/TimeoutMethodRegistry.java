package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.AnnotatedMethods;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.ProxyRules;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Pointcut;
import org.springframework.aop.framework.autoproxy.ProxyCreationContext;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.util.ClassUtils;

/**
 * The methods with {@link Timeout} and their time limits. Each class is read and checked
 * once. Thread-safe.
 *
 * @since 0.1
 */
public final class TimeoutMethodRegistry implements AnnotatedMethodScanner.Reader {

	private final AnnotatedMethods<Timeout> annotated = new AnnotatedMethods<>(Timeout.class);

	private final ConfigurableListableBeanFactory beanFactory;

	private final AttributeResolver attributes;

	private final ProxyRules rules;

	private final Map<Class<?>, Map<Method, TimeLimit>> classes = new ConcurrentHashMap<>();

	private final Map<MethodClassKey, TimeLimit> methods = new ConcurrentHashMap<>();

	private final List<Consumer<? super Method>> listeners = new CopyOnWriteArrayList<>();

	/**
	 * Creates an instance that has read no class.
	 * @param beanFactory resolves the attributes
	 */
	public TimeoutMethodRegistry(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
		this.attributes = new AttributeResolver(beanFactory);
		this.rules = new ProxyRules(beanFactory);
	}

	/**
	 * Returns a pointcut that matches the annotated methods and checks their classes.
	 */
	Pointcut pointcut() {
		return this.annotated.pointcut((type) -> check(type, ProxyCreationContext.getCurrentProxiedBeanName()));
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
	 * Returns the time limit of a method.
	 * @param method the called method, may be an interface method
	 * @param targetClass the class of the object that the method is called on
	 * @return the time limit, {@code null} if there is none
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

	/**
	 * Calls a listener for each method with a time limit: at once for the known methods,
	 * later for each new one. May call the listener more than once for a method.
	 * @param listener takes the most specific method
	 */
	public void onMethod(Consumer<? super Method> listener) {
		this.listeners.add(listener);
		this.classes.values().forEach((limits) -> limits.keySet().forEach(listener));
	}

	private Map<Method, TimeLimit> of(Class<?> type) {
		Map<Method, TimeLimit> limits = this.classes.get(type);
		if (limits == null) {
			limits = read(type);
			this.classes.put(type, limits);
			Set<Method> methods = limits.keySet();
			this.listeners.forEach((listener) -> methods.forEach(listener));
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
