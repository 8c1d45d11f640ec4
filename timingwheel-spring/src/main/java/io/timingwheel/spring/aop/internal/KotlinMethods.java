package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;

import org.springframework.core.KotlinDetector;

/**
 * What the Kotlin compiler makes of functions.
 */
final class KotlinMethods {

	private KotlinMethods() {
	}

	/**
	 * Whether a method is an overload that {@code @JvmOverloads} has added. It is final,
	 * has a copy of the annotations, and calls the function itself, which the proxy
	 * intercepts.
	 */
	static boolean isOverload(Method method) {
		Class<?> type = method.getDeclaringClass();
		return Modifier.isFinal(method.getModifiers()) && KotlinDetector.isKotlinType(type)
				&& Arrays.stream(type.getDeclaredMethods()).anyMatch((other) -> isDefault(other, method));
	}

	/**
	 * Whether a method fills in the default arguments of a function that has the
	 * parameters of another one, and more.
	 */
	private static boolean isDefault(Method candidate, Method overload) {
		if (!candidate.isSynthetic() || !candidate.getName().equals(overload.getName() + "$default")) {
			return false;
		}
		Class<?>[] all = candidate.getParameterTypes();
		Class<?>[] given = overload.getParameterTypes();
		int found = 0;
		// The object comes first. The last two say which arguments are given.
		for (int i = 1; i < all.length - 2 && found < given.length; i++) {
			if (all[i] == given[found]) {
				found++;
			}
		}
		return found == given.length && all.length - 3 > given.length;
	}

}
