package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.util.Map;

import io.timingwheel.spring.aop.AnnotatedMethods;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.support.AopUtils;

/**
 * The method that an invocation runs.
 *
 * @param targetClass the class of the target
 * @param method the most specific method of this class
 */
record InvokedMethod(Class<?> targetClass, Method method) {

	static InvokedMethod of(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		return new InvokedMethod(targetClass, AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass));
	}

	/**
	 * Finds the method among the annotated methods of its class.
	 * @param annotation the annotation, for the message
	 * @param annotated the annotated methods
	 */
	<T> T find(String annotation, Map<Method, T> annotated) {
		T found = annotated.get(this.method);
		if (found == null) {
			throw new IllegalStateException("No %s on %s".formatted(annotation, this.method));
		}
		return found;
	}

}
