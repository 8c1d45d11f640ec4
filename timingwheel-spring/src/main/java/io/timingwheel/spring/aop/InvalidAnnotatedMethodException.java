package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanDefinitionStoreException;

/**
 * Stops the start of the application: a method bears an annotation of ours that cannot
 * take effect there.
 */
public class InvalidAnnotatedMethodException extends BeanDefinitionStoreException {

	private final transient Method method;

	private final String problem;

	private final String remedy;

	/**
	 * Creates an exception whose message names the method.
	 * @param method the method at fault
	 * @param problem what is wrong, a clause without a full stop
	 * @param remedy what to change, in the imperative, without a full stop
	 */
	public InvalidAnnotatedMethodException(Method method, String problem, String remedy) {
		this(method, problem, remedy, null);
	}

	/**
	 * Creates an exception whose message names the method.
	 * @param method the method at fault
	 * @param problem what is wrong, a clause without a full stop
	 * @param remedy what to change, in the imperative, without a full stop
	 * @param cause what uncovered the problem, if anything did
	 */
	public InvalidAnnotatedMethodException(Method method, String problem, String remedy, @Nullable Throwable cause) {
		super(describe(method) + ": " + problem + "; " + remedy, cause);
		this.method = method;
		this.problem = problem;
		this.remedy = remedy;
	}

	/**
	 * The method at fault.
	 * @return the method
	 */
	public Method getMethod() {
		return this.method;
	}

	/**
	 * What is wrong.
	 * @return a clause without a full stop
	 */
	public String getProblem() {
		return this.problem;
	}

	/**
	 * What to change.
	 * @return an imperative without a full stop
	 */
	public String getRemedy() {
		return this.remedy;
	}

	/**
	 * A method in the notation of Javadoc, for messages.
	 * @param method the method
	 * @return its class, its name and the simple names of its parameters' types
	 */
	public static String describe(Method method) {
		return Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(
					Collectors.joining(", ", method.getDeclaringClass().getName() + "#" + method.getName() + "(", ")"));
	}

}
