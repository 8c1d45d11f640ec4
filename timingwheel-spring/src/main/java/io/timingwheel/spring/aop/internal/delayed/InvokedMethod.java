package io.timingwheel.spring.aop.internal.delayed;

import java.lang.reflect.Method;

import io.timingwheel.spring.aop.internal.AnnotatedMethods;
import org.aopalliance.intercept.MethodInvocation;

import org.springframework.aop.support.AopUtils;

/**
 * The most specific method that an invocation runs.
 */
record InvokedMethod(Class<?> targetClass, Method method) {

	static InvokedMethod of(MethodInvocation invocation) {
		Object target = invocation.getThis();
		Class<?> targetClass = (target != null) ? AopUtils.getTargetClass(target)
				: invocation.getMethod().getDeclaringClass();
		return new InvokedMethod(targetClass, AnnotatedMethods.mostSpecific(invocation.getMethod(), targetClass));
	}

}
