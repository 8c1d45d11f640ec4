package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

/** Stops the start because of an annotated method. */
final class Refusal {

	private Refusal() {
	}

	static void when(boolean wrong, Method method, String problem, String remedy) {
		if (wrong) {
			throw new InvalidAnnotatedMethodException(method, problem, remedy);
		}
	}

	/** Without a proxy around the method, Spring would silently ignore the annotation. */
	static void whenNoProxyIntercepts(String annotation, Method method) {
		when(Modifier.isStatic(method.getModifiers()), method,
				annotation + " is on a static method, which a proxy cannot intercept",
				"make it an instance method of the bean");
		when(Modifier.isPrivate(method.getModifiers()), method,
				annotation + " is on a private method, which a proxy cannot intercept",
				"make the method public, protected or package-private");
		when(Modifier.isFinal(method.getModifiers()), method,
				annotation + " is on a final method, which a proxy cannot intercept",
				"remove the final modifier from the method (in Kotlin, make it and its class open)");
	}

}
