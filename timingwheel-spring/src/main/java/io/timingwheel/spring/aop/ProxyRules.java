package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.aopalliance.aop.Advice;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.PropertyValue;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;

/**
 * Checks that the proxy of a bean can intercept an annotated method. If the proxy cannot,
 * Spring would silently ignore the annotation. Follows {@code @Proxyable}, as Spring
 * does. Thread-safe.
 *
 * @since 0.1
 */
public final class ProxyRules {

	private static final List<Class<?>> ADVICE = List.of(Advice.class, Advisor.class, Pointcut.class,
			AopInfrastructureBean.class);

	private static final String ASPECT = "org.aspectj.lang.annotation.Aspect";

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates the rules of an application context.
	 * @param beanFactory holds the settings of the proxies
	 */
	public ProxyRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Checks a method that is called on the bean, whether the bean has a proxy or not.
	 * @param annotation the annotation, for messages, such as {@code @Recurring}
	 * @param method the most specific method
	 * @throws InvalidAnnotatedMethodException if the method cannot be called, or would
	 * run on a proxy in place of the bean
	 */
	public static void checkCallable(String annotation, Method method) {
		if (Modifier.isStatic(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method, annotation + " is on a static method, which no bean has",
					"make it an instance method of the bean");
		}
		if (Modifier.isPrivate(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a private method, which a proxy would not pass on to the bean",
					"make the method public, protected or package-private");
		}
		if (Modifier.isFinal(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a final method, which a proxy would not pass on to the bean",
					"remove the final modifier from the method (in Kotlin, make it open)");
		}
	}

	/**
	 * Checks a method.
	 * @param annotation the annotation, for messages, such as {@code @Timeout}
	 * @param method the most specific method
	 * @param beanClass the class of the bean; may be an interface if the class is unknown
	 * @param beanName the name of the bean, {@code null} if it is unknown
	 * @throws InvalidAnnotatedMethodException if the proxy cannot intercept the method
	 */
	public void check(String annotation, Method method, Class<?> beanClass, @Nullable String beanName) {
		if (Modifier.isStatic(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a static method, which a proxy cannot intercept",
					"make it an instance method of the bean");
		}
		if (Modifier.isPrivate(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a private method, which a proxy cannot intercept",
					"make the method public, protected or package-private");
		}
		if (beanClass.isInterface() || Proxy.isProxyClass(beanClass) || ClassUtils.isLambdaClass(beanClass)) {
			return;
		}
		Set<Class<?>> interfaces = proxyInterfaces(beanClass, beanName);
		if (interfaces.isEmpty()) {
			checkClassProxy(annotation, method, beanClass);
		}
		else if (beanName != null && !isInInterface(method, beanClass, interfaces)) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a method that is in no interface of the proxy, which is interface-based",
					"declare the method in one of the interfaces " + names(interfaces)
							+ ", or give the bean a class-based proxy, by @Proxyable(TARGET_CLASS) or spring.aop.proxy-target-class=true");
		}
	}

	/**
	 * Checks that Spring's auto-proxy creator makes proxies of a class. It makes none of
	 * advice, since advice would then advise itself.
	 * @param annotation the annotation, for messages, such as {@code @Timeout}
	 * @param method a method with the annotation
	 * @param beanClass the class of the bean
	 * @throws InvalidAnnotatedMethodException if there is no proxy
	 */
	public void checkAutoProxied(String annotation, Method method, Class<?> beanClass) {
		if (ADVICE.stream().anyMatch((type) -> type.isAssignableFrom(beanClass)) || (isAspectAware()
				&& MergedAnnotations.from(beanClass, SearchStrategy.TYPE_HIERARCHY).isPresent(ASPECT))) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is on a method of %s, which is advice itself, and to which Spring gives no proxy"
						.formatted(annotation, beanClass.getName()),
					"move the method to another bean");
		}
	}

	/**
	 * Whether the auto-proxy creator knows aspects.
	 */
	private boolean isAspectAware() {
		String name = AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME;
		return this.beanFactory.containsBeanDefinition(name)
				&& String.valueOf(this.beanFactory.getBeanDefinition(name).getBeanClassName())
					.contains("AnnotationAwareAspectJ");
	}

	private static void checkClassProxy(String annotation, Method method, Class<?> beanClass) {
		if (Modifier.isFinal(beanClass.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is on a method of the final class %s, which cannot be proxied by a subclass"
						.formatted(annotation, beanClass.getName()),
					KotlinMethods.isObject(beanClass) ? "make the Kotlin object an open class"
							: "remove the final modifier from the class (in Kotlin, make it open)");
		}
		if (Modifier.isFinal(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a final method, which a proxy cannot intercept",
					"remove the final modifier from the method (in Kotlin, make it open)");
		}
	}

	/**
	 * The interfaces of an interface-based proxy, in the order in which Spring decides.
	 * @return the interfaces, empty for a class-based proxy
	 */
	private Set<Class<?>> proxyInterfaces(Class<?> beanClass, @Nullable String beanName) {
		if (AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, beanName)) {
			return Set.of();
		}
		Class<?>[] exposed = exposedInterfaces(beanName);
		if (exposed != null && exposed.length > 0) {
			return Set.of(exposed);
		}
		if (exposed == null && (isProxyTargetClass(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				|| isProxyTargetClass(AutoProxyUtils.DEFAULT_PROXY_CONFIG_BEAN_NAME))) {
			return Set.of();
		}
		return InterfaceEvaluation.proxyInterfaces(beanClass);
	}

	/**
	 * The interfaces that {@code @Proxyable} selects for a bean.
	 * @return the interfaces, empty for all, {@code null} without such a selection
	 */
	private Class<?> @Nullable [] exposedInterfaces(@Nullable String beanName) {
		if (beanName == null || !this.beanFactory.containsBeanDefinition(beanName)) {
			return null;
		}
		Object exposed = this.beanFactory.getBeanDefinition(beanName)
			.getAttribute(AutoProxyUtils.EXPOSED_INTERFACES_ATTRIBUTE);
		if (exposed instanceof Class<?> type) {
			return new Class<?>[] { type };
		}
		return (exposed instanceof Class<?>[] types) ? types : null;
	}

	/**
	 * Reads the setting from the bean definition, because the bean must not be
	 * instantiated yet.
	 */
	private boolean isProxyTargetClass(String beanName) {
		if (!this.beanFactory.containsBeanDefinition(beanName)) {
			return false;
		}
		PropertyValue property = this.beanFactory.getBeanDefinition(beanName)
			.getPropertyValues()
			.getPropertyValue("proxyTargetClass");
		return property != null && Boolean.parseBoolean(String.valueOf(property.getValue()));
	}

	private static boolean isInInterface(Method method, Class<?> beanClass, Set<Class<?>> interfaces) {
		for (Class<?> type : interfaces) {
			for (Method declared : type.getMethods()) {
				if (declared.getName().equals(method.getName())
						&& AopUtils.getMostSpecificMethod(declared, beanClass).equals(method)) {
					return true;
				}
			}
		}
		return false;
	}

	private static Set<String> names(Set<Class<?>> interfaces) {
		return interfaces.stream().map(Class::getSimpleName).collect(Collectors.toCollection(TreeSet::new));
	}

	/**
	 * Uses Spring's own rule for the interfaces that a proxy implements.
	 */
	private static final class InterfaceEvaluation extends ProxyProcessorSupport {

		static Set<Class<?>> proxyInterfaces(Class<?> beanClass) {
			ProxyFactory factory = new ProxyFactory();
			new InterfaceEvaluation().evaluateProxyInterfaces(beanClass, factory);
			return Set.of(factory.getProxiedInterfaces());
		}

	}

}
