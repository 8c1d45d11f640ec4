package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

/**
 * Checks that a proxy can intercept an annotated method. If it cannot, Spring would
 * silently ignore the annotation.
 */
public final class ProxyRules {

	private ProxyRules() {
	}

	public static void check(String annotation, Method method) {
		Refusal.when(Modifier.isStatic(method.getModifiers()), method,
				annotation + " is on a static method, which a proxy cannot intercept",
				"make it an instance method of the bean");
		Refusal.when(Modifier.isPrivate(method.getModifiers()), method,
				annotation + " is on a private method, which a proxy cannot intercept",
				"make the method public, protected or package-private");
		Refusal.when(Modifier.isFinal(method.getModifiers()), method,
				annotation + " is on a final method, which a proxy cannot intercept",
				"remove the final modifier from the method (in Kotlin, make it and its class open)");
	}

	static void checkInterfaces(String annotation, Method method, Class<?> beanClass, Class<?>[] interfaces) {
		boolean found = Arrays.stream(interfaces)
			.flatMap((type) -> Arrays.stream(type.getMethods()))
			.anyMatch((declared) -> declared.getName().equals(method.getName())
					&& AnnotatedMethods.mostSpecific(declared, beanClass).equals(method));
		Refusal.when(!found, method,
				annotation + " is on a method that is in no interface of the proxy, which is interface-based",
				"declare the method in an interface, or give the bean a class-based proxy, by"
						+ " @Proxyable(TARGET_CLASS) or spring.aop.proxy-target-class=true");
	}

}
