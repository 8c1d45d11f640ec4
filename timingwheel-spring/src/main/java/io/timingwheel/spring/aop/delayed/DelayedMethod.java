package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.PolicyAttribute;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * A checked {@code @Delayed} method of a bean.
 *
 * @param beanName the bean's public name
 * @param method the most specific method
 * @param names the name of its tasks, and the earlier names
 * @param durable whether its calls are stored
 * @param transactional whether a body and its acknowledgement are one transaction
 * @param argumentTypes the types of its arguments
 * @param delay where the delay comes from
 * @param key where the key comes from, {@code null} for none
 * @param ifPending what to do if the key is pending
 * @param longestWait how long replacements can put a task off, {@code null} for no limit
 * @param executorName the executor's name, empty for the default
 * @param maxLateness how late a task may start, {@code null} for no limit
 * @param afterCommit whether to wait for the caller's transaction
 * @param givesResult whether the method returns a task or future rather than nothing
 * @param policy how often its tasks are tried, and what limits their starts
 * @param shared whether the bean is one object for all calls
 */
record DelayedMethod(String beanName, Method method, TaskNames names, boolean durable, boolean transactional,
		List<Type> argumentTypes, DelaySource delay, @Nullable KeySource key, IfPending ifPending,
		@Nullable FixedAttribute<Duration> longestWait, FixedAttribute<String> executorName,
		@Nullable FixedAttribute<Duration> maxLateness, boolean afterCommit, boolean givesResult,
		PolicyAttribute policy, boolean shared) {

	String name() {
		return this.names.name().get();
	}

	List<String> aliases() {
		return this.names.aliasesInUse();
	}

	String executor() {
		return this.executorName.get();
	}

	@Nullable Duration expireAfter() {
		return (this.maxLateness != null) ? this.maxLateness.get() : null;
	}

	@Nullable Duration maxWait() {
		return (this.longestWait != null) ? this.longestWait.get() : null;
	}

	/**
	 * Resolves the attributes that depend on beans.
	 * @throws InvalidAnnotatedMethodException if one of them has no usable value
	 */
	void resolve() {
		this.delay.resolve();
		name();
		aliases();
		executor();
		expireAfter();
		maxWait();
		this.policy.get();
	}

	/**
	 * The key of a call.
	 * @return the key, {@code null} if the tasks of this method have none
	 * @throws IllegalArgumentException if the expression gives no key
	 */
	@Nullable Object keyOf(@Nullable Object[] arguments) {
		return (this.key != null) ? this.key.key(arguments) : null;
	}

	/**
	 * The names under which the calls of a method are known.
	 *
	 * @param name the name of new calls
	 * @param aliases the names of earlier calls, empty texts included
	 */
	record TaskNames(FixedAttribute<String> name, List<FixedAttribute<String>> aliases) {

		List<String> aliasesInUse() {
			return this.aliases.stream().map(FixedAttribute::get).filter(StringUtils::hasText).toList();
		}

		/**
		 * The names that are known without beans.
		 */
		Stream<String> resolved() {
			return Stream.concat(Stream.of(this.name), this.aliases.stream())
				.filter(FixedAttribute::isResolved)
				.map(FixedAttribute::get)
				.filter(StringUtils::hasText);
		}

	}

}
