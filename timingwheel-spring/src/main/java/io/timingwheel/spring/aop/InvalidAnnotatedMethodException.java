package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanDefinitionStoreException;

/**
 * Thrown at startup if an annotation of timingwheel cannot take effect on its method. The
 * application does not start.
 *
 * @since 0.1
 */
public class InvalidAnnotatedMethodException extends BeanDefinitionStoreException {

	private final transient Method method;

	private final String problem;

	private final String remedy;

	public InvalidAnnotatedMethodException(Method method, String problem, String remedy) {
		this(method, problem, remedy, null);
	}

	/**
	 * Creates an exception.
	 * @param method the annotated method
	 * @param problem what is wrong, as a clause without a full stop
	 * @param remedy what to change, in the imperative, without a full stop
	 * @param cause the exception that showed the problem, {@code null} if there is none
	 */
	public InvalidAnnotatedMethodException(Method method, String problem, String remedy, @Nullable Throwable cause) {
		super(describe(method) + ": " + problem + "; " + remedy, cause);
		this.method = method;
		this.problem = problem;
		this.remedy = remedy;
	}

	/** The annotated method. */
	public Method getMethod() {
		return this.method;
	}

	/** What is wrong, as a clause without a full stop. */
	public String getProblem() {
		return this.problem;
	}

	/** What to change, in the imperative, without a full stop. */
	public String getRemedy() {
		return this.remedy;
	}

	/**
	 * Describes a method for messages, in the notation of Javadoc.
	 * @param method the method
	 * @return the class, the name and the simple names of the parameters' types
	 */
	public static String describe(Method method) {
		return Arrays.stream(method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(
					Collectors.joining(", ", method.getDeclaringClass().getName() + "#" + method.getName() + "(", ")"));
	}

}
