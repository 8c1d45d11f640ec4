package io.timingwheel.spring.annotation;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Thrown if a method did not finish within the limit of its {@link Timeout}. The cause is
 * a {@link TimeoutException}. If the limit interrupted a thread, a suppressed exception
 * has the stack of that thread at the deadline. If several calls exceed their limits
 * within 10 ms, only the first exception has this stack. An exception of the body is
 * suppressed, too.
 *
 * @since 0.1
 */
public class MethodTimeoutException extends RuntimeException {

	private final transient @Nullable Method method;

	private final Duration timeout;

	/**
	 * Creates an exception.
	 * @param method the method that took too long
	 * @param timeout the limit of the call
	 */
	public MethodTimeoutException(Method method, Duration timeout) {
		this("%s.%s did not finish within %s".formatted(method.getDeclaringClass().getName(), method.getName(),
				DurationFormatterUtils.print(timeout, DurationFormat.Style.COMPOSITE)), method, timeout);
	}

	private MethodTimeoutException(String message, Method method, Duration timeout) {
		super(message, new TimeoutException(message));
		this.method = method;
		this.timeout = timeout;
	}

	/**
	 * Returns the method that took too long.
	 * @return the method, {@code null} after deserialization
	 */
	public @Nullable Method getMethod() {
		return this.method;
	}

	/**
	 * Returns the limit of the call.
	 * @return the limit; zero or negative if the call had no time left when it began
	 */
	public Duration getTimeout() {
		return this.timeout;
	}

}
