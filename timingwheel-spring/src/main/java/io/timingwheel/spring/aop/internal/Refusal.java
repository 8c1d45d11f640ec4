package io.timingwheel.spring.aop.internal;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;

/**
 * Stops the start because of an annotated method.
 */
public final class Refusal {

	private Refusal() {
	}

	public static void when(boolean wrong, Method method, String problem, String remedy) {
		if (wrong) {
			throw new InvalidAnnotatedMethodException(method, problem, remedy);
		}
	}

}
