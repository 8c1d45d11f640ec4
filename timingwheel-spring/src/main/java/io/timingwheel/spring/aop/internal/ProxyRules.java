package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.PropertyValue;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;

/**
 * Checks that the proxy of a bean can intercept an annotated method. If the proxy cannot,
 * Spring would silently ignore the annotation. Follows {@code @Proxyable}, as Spring
 * does. Thread-safe.
 */
public final class ProxyRules {

	private final ConfigurableListableBeanFactory beanFactory;

	public ProxyRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	public static void checkCallable(String annotation, Method method) {
		Refusal.when(Modifier.isStatic(method.getModifiers()), method,
				annotation + " is on a static method, which a proxy cannot intercept",
				"make it an instance method of the bean");
		Refusal.when(Modifier.isPrivate(method.getModifiers()), method,
				annotation + " is on a private method, which a proxy cannot intercept",
				"make the method public, protected or package-private");
	}

	public static void checkNotFinal(String annotation, Method method) {
		Refusal.when(Modifier.isFinal(method.getModifiers()), method,
				annotation + " is on a final method, which a proxy cannot intercept",
				"remove the final modifier from the method (in Kotlin, make it open)");
	}

	public void check(String annotation, Method method, Class<?> beanClass, String beanName) {
		checkCallable(annotation, method);
		if (beanClass.isInterface() || Proxy.isProxyClass(beanClass) || ClassUtils.isLambdaClass(beanClass)) {
			return;
		}
		Set<Class<?>> interfaces = proxyInterfaces(beanClass, beanName);
		if (interfaces.isEmpty()) {
			Refusal.when(Modifier.isFinal(beanClass.getModifiers()), method,
					"%s is on a method of the final class %s, which cannot be proxied by a subclass"
						.formatted(annotation, beanClass.getName()),
					"remove the final modifier from the class (in Kotlin, make it an open class)");
			checkNotFinal(annotation, method);
		}
		else {
			Refusal.when(!isInInterface(method, beanClass, interfaces), method,
					annotation + " is on a method that is in no interface of the proxy, which is interface-based",
					"declare the method in one of the interfaces "
							+ interfaces.stream().map(Class::getSimpleName).sorted().toList()
							+ ", or give the bean a class-based proxy, by @Proxyable(TARGET_CLASS) or spring.aop.proxy-target-class=true");
		}
	}

	/**
	 * The interfaces of an interface-based proxy, in the order in which Spring decides.
	 */
	private Set<Class<?>> proxyInterfaces(Class<?> beanClass, String beanName) {
		if (AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, beanName)) {
			return Set.of();
		}
		Class<?>[] exposed = exposedInterfaces(beanName);
		if (exposed != null && exposed.length > 0) {
			return Set.of(exposed);
		}
		if (exposed == null && isClassBased(this.beanFactory)) {
			return Set.of();
		}
		return InterfaceEvaluation.proxyInterfaces(beanClass);
	}

	/**
	 * The interfaces that {@code @Proxyable} selects for a bean.
	 * @return the interfaces, empty for all, {@code null} without such a selection
	 */
	private Class<?> @Nullable [] exposedInterfaces(String beanName) {
		if (!this.beanFactory.containsBeanDefinition(beanName)) {
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
	 * Returns whether the proxies of an application context are class-based, if nothing
	 * else is said of a bean: by the property of Spring Boot, or by the definitions of
	 * the beans, which must not be instantiated yet.
	 */
	public static boolean isClassBased(ConfigurableListableBeanFactory beanFactory) {
		Environment environment = beanFactory.getBean("environment", Environment.class);
		return environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true)
				|| isClassBased(beanFactory, AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				|| isClassBased(beanFactory, AutoProxyUtils.DEFAULT_PROXY_CONFIG_BEAN_NAME);
	}

	private static boolean isClassBased(ConfigurableListableBeanFactory beanFactory, String beanName) {
		PropertyValue property = beanFactory.containsBeanDefinition(beanName)
				? beanFactory.getBeanDefinition(beanName).getPropertyValues().getPropertyValue("proxyTargetClass")
				: null;
		return property != null && Boolean.parseBoolean(String.valueOf(property.getValue()));
	}

	private static boolean isInInterface(Method method, Class<?> beanClass, Set<Class<?>> interfaces) {
		return interfaces.stream()
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.anyMatch((declared) -> declared.getName().equals(method.getName())
					&& AopUtils.getMostSpecificMethod(declared, beanClass).equals(method));
	}

	private static final class InterfaceEvaluation extends ProxyProcessorSupport {

		static Set<Class<?>> proxyInterfaces(Class<?> beanClass) {
			ProxyFactory factory = new ProxyFactory();
			new InterfaceEvaluation().evaluateProxyInterfaces(beanClass, factory);
			return Set.of(factory.getProxiedInterfaces());
		}

	}

}
