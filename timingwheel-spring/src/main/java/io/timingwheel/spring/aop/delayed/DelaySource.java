package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.aop.ArgumentExpression;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.support.Deadline;
import io.timingwheel.spring.task.support.TaskClock;
import org.jspecify.annotations.Nullable;

/**
 * Where the delay of a method comes from. Thread-safe.
 */
interface DelaySource {

	/**
	 * The deadline of a call, by the clocks of this JVM.
	 * @throws IllegalArgumentException if the arguments give no time
	 */
	Deadline due(@Nullable Object[] arguments, TaskClock clock);

	/**
	 * The due time of a stored call.
	 * @throws IllegalArgumentException if the arguments give no time
	 */
	CallTime due(@Nullable Object[] arguments);

	/**
	 * Resolves a delay that depends on beans.
	 */
	default void resolve() {
	}

	/**
	 * A delay that is the same for all calls. If the delay depends on beans, it is
	 * resolved once they exist.
	 */
	final class Fixed implements DelaySource {

		private final FixedAttribute<Long> nanos;

		Fixed(Method method, String text, AttributeResolver attributes) {
			// Negative delays mean now.
			this.nanos = attributes.duration(text, (delay) -> Math.max(0, TimeUnit.NANOSECONDS.convert(delay)),
					(ex) -> new InvalidAnnotatedMethodException(method,
							"the delay of @Delayed is unusable (%s)".formatted(ex.getMessage()),
							text.startsWith("#") && !text.startsWith("#{")
									? "use delayExpression for an expression on the arguments"
									: "set a delay such as 30s, 10m or PT1H",
							ex));
		}

		@Override
		public Deadline due(@Nullable Object[] arguments, TaskClock clock) {
			return clock.after(this.nanos.get());
		}

		@Override
		public CallTime due(@Nullable Object[] arguments) {
			return CallTime.after(Duration.ofNanos(this.nanos.get()));
		}

		@Override
		public void resolve() {
			this.nanos.get();
		}

	}

	/**
	 * A delay that depends on the arguments.
	 */
	final class Computed implements DelaySource {

		private final Method method;

		private final ArgumentExpression expression;

		Computed(Method method, ArgumentExpression expression) {
			this.method = method;
			this.expression = expression;
			expression.requireResult("@Delayed(delayExpression)", "a Duration, a number of milliseconds or an Instant",
					Duration.class, Number.class, Instant.class);
		}

		@Override
		public Deadline due(@Nullable Object[] arguments, TaskClock clock) {
			Object value = this.expression.evaluate(arguments);
			return (value instanceof Instant instant) ? clock.at(instant) : clock.after(duration(value));
		}

		@Override
		public CallTime due(@Nullable Object[] arguments) {
			Object value = this.expression.evaluate(arguments);
			return (value instanceof Instant instant) ? CallTime.at(instant) : CallTime.after(duration(value));
		}

		private Duration duration(@Nullable Object value) {
			if (value instanceof Duration || value instanceof Number) {
				try {
					return AttributeResolver.toDuration(value);
				}
				catch (IllegalArgumentException ex) {
					throw invalid(ex.getMessage(), ex);
				}
			}
			throw invalid((value != null) ? "a " + value.getClass().getName() : "null", null);
		}

		private IllegalArgumentException invalid(@Nullable String found, @Nullable Exception cause) {
			return new IllegalArgumentException(
					"The delayExpression \"%s\" of %s must give a Duration, a number of milliseconds or an Instant: %s"
						.formatted(this.expression, InvalidAnnotatedMethodException.describe(this.method), found),
					cause);
		}

	}

}
