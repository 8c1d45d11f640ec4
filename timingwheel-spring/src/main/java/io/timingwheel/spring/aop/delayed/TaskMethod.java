package io.timingwheel.spring.aop.delayed;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.List;

import io.timingwheel.spring.task.internal.PolicySettings;

/**
 * A checked {@code @Delayed} or {@code @Recurring} method of a bean. Its values may
 * depend on properties and beans. They are read when they are needed first, at the end of
 * the start at the latest.
 */
interface TaskMethod {

	/**
	 * The bean's public name.
	 */
	String beanName();

	/**
	 * The most specific method.
	 */
	Method method();

	Annotation annotation();

	boolean durable();

	/**
	 * The values that all task methods have. May instantiate beans.
	 * @throws io.timingwheel.spring.aop.InvalidAnnotatedMethodException if a value is of
	 * no use
	 */
	Common common();

	default String name() {
		return common().name();
	}

	/**
	 * The annotation, for messages.
	 */
	default String type() {
		return "@" + annotation().annotationType().getSimpleName();
	}

	/**
	 * The values that all task methods have.
	 *
	 * @param name the name of new tasks
	 * @param aliases the names of earlier tasks
	 * @param executor the executor's name, empty for the default
	 * @param policy how often tasks are tried, and what limits their starts
	 */
	record Common(String name, List<String> aliases, String executor, PolicySettings policy) {
	}

}
