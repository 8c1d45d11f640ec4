package io.timingwheel.spring.annotation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * A method did not finish within the limit of its {@link Timeout}. The cause is a
 * {@link TimeoutException}; what the body itself threw is suppressed.
 */
public class MethodTimeoutException extends RuntimeException {

	private final transient @Nullable Method method;

	private final Duration timeout;

	/**
	 * Creates an exception.
	 * @param method the method that took too long
	 * @param timeout its limit
	 */
	public MethodTimeoutException(Method method, Duration timeout) {
		this("%s.%s did not finish within %s".formatted(method.getDeclaringClass().getName(), method.getName(),
				timeout), method, timeout);
	}

	private MethodTimeoutException(String message, Method method, Duration timeout) {
		super(message, new TimeoutException(message));
		this.method = method;
		this.timeout = timeout;
	}

	/**
	 * The method that took too long.
	 * @return the method, {@code null} after deserialization
	 */
	public @Nullable Method getMethod() {
		return this.method;
	}

	/**
	 * The limit of that call.
	 * @return the limit; zero or negative if the time was over before the call
	 */
	public Duration getTimeout() {
		return this.timeout;
	}

}
