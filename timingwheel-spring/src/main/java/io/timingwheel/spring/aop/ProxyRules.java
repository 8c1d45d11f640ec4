package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.framework.ProxyProcessorSupport;
import org.springframework.aop.framework.autoproxy.AutoProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.PropertyValue;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Checks that the proxy of a bean can intercept an annotated method. If the proxy cannot,
 * Spring would silently ignore the annotation. Thread-safe.
 *
 * @since 0.1
 */
public final class ProxyRules {

	private final ConfigurableListableBeanFactory beanFactory;

	/**
	 * Creates the rules of an application context.
	 * @param beanFactory holds the settings of the proxies
	 */
	public ProxyRules(ConfigurableListableBeanFactory beanFactory) {
		this.beanFactory = beanFactory;
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
		if (beanClass.isInterface() || Proxy.isProxyClass(beanClass)) {
			return;
		}
		if (usesClassProxy(beanClass, beanName)) {
			checkClassProxy(annotation, method, beanClass);
		}
		else if (beanName != null && !isInInterface(method, beanClass)) {
			throw new InvalidAnnotatedMethodException(method,
					annotation
							+ " is on a method that is in no interface, while the bean gets an interface-based proxy",
					"declare the method in an interface of the class, or set spring.aop.proxy-target-class=true");
		}
	}

	private static void checkClassProxy(String annotation, Method method, Class<?> beanClass) {
		if (Modifier.isFinal(beanClass.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					"%s is on a method of the final class %s, which cannot be proxied by a subclass"
						.formatted(annotation, beanClass.getName()),
					"remove the final modifier from the class (in Kotlin, make it open)");
		}
		if (Modifier.isFinal(method.getModifiers())) {
			throw new InvalidAnnotatedMethodException(method,
					annotation + " is on a final method, which a proxy cannot intercept",
					"remove the final modifier from the method (in Kotlin, make it open)");
		}
	}

	private boolean usesClassProxy(Class<?> beanClass, @Nullable String beanName) {
		return isProxyTargetClass(AopConfigUtils.AUTO_PROXY_CREATOR_BEAN_NAME)
				|| isProxyTargetClass(AutoProxyUtils.DEFAULT_PROXY_CONFIG_BEAN_NAME)
				|| AutoProxyUtils.shouldProxyTargetClass(this.beanFactory, beanName)
				|| !InterfaceEvaluation.hasProxyInterface(beanClass);
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

	private static boolean isInInterface(Method method, Class<?> beanClass) {
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(beanClass)) {
			for (Method declared : type.getMethods()) {
				if (declared.getName().equals(method.getName())
						&& AopUtils.getMostSpecificMethod(declared, beanClass).equals(method)) {
					return true;
				}
			}
		}
		return false;
	}

	/**
	 * Uses Spring's own rule for the interfaces that a proxy implements.
	 */
	private static final class InterfaceEvaluation extends ProxyProcessorSupport {

		static boolean hasProxyInterface(Class<?> beanClass) {
			ProxyFactory factory = new ProxyFactory();
			new InterfaceEvaluation().evaluateProxyInterfaces(beanClass, factory);
			return !factory.isProxyTargetClass();
		}

	}

}
