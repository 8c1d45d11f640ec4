package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;

import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} method of a bean.
 *
 * @param beanName the bean's public name
 * @param method the most specific method
 * @param name the name of its tasks
 * @param aliases earlier names of its tasks
 * @param durable whether its calls are stored
 * @param transactional whether a body and its acknowledgement are one transaction
 * @param argumentTypes the types of its arguments
 * @param delay where the delay comes from
 * @param key where the key comes from, {@code null} for none
 * @param ifPending what to do if the key is pending
 * @param executor the executor's name, empty for the default
 * @param expireAfter how late a task may start, {@code null} for no limit
 * @param afterCommit whether to wait for the caller's transaction
 * @param givesResult whether the method returns a task or future rather than nothing
 * @param shared whether the bean is one object for all calls
 */
record DelayedMethod(String beanName, Method method, String name, List<String> aliases, boolean durable,
		boolean transactional, List<Type> argumentTypes, DelaySource delay, @Nullable KeySource key,
		IfPending ifPending, String executor, @Nullable Duration expireAfter, boolean afterCommit, boolean givesResult,
		boolean shared) {

	/**
	 * The key of a call.
	 * @return the key, {@code null} if the tasks of this method have none
	 * @throws IllegalArgumentException if the expression gives no key
	 */
	@Nullable Object keyOf(@Nullable Object[] arguments) {
		return (this.key != null) ? this.key.key(arguments) : null;
	}

}
