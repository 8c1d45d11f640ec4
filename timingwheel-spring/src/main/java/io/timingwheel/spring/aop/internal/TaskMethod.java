package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.internal.DurableMethod.Store.CallTime;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.PolicySettings;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@code @Delayed} or {@code @Recurring} method of a bean.
 *
 * @param beanName the bean's public name
 * @param delayExpression gives the delay of a call, {@code null} if all calls have one
 * @param lazyValues reads the values of the annotation once, and may instantiate beans
 */
record TaskMethod(String beanName, Method method, Annotation annotation, List<Type> argumentTypes,
		@Nullable ArgumentExpression key, @Nullable ArgumentExpression delayExpression, Supplier<Values> lazyValues) {

	/**
	 * Identifies a method of a bean, whether it was read from the class or an interface.
	 */
	static String place(String beanName, Method method) {
		return AnnotatedBeans.publicName(beanName) + "#" + method.getName()
				+ Arrays.toString(method.getParameterTypes());
	}

	String place() {
		return place(this.beanName, this.method);
	}

	boolean recurring() {
		return this.annotation instanceof Recurring;
	}

	boolean durable() {
		return (this.annotation instanceof Recurring recurring) ? recurring.durable() : delayed().durable();
	}

	Delayed delayed() {
		return (Delayed) this.annotation;
	}

	String type() {
		return "@" + this.annotation.annotationType().getSimpleName();
	}

	Values values() {
		return this.lazyValues.get();
	}

	String name() {
		return values().name();
	}

	boolean givesResult() {
		return this.method.getReturnType() != void.class;
	}

	@Nullable Object keyOf(@Nullable Object[] arguments) {
		return (this.key != null) ? this.key.key(arguments) : null;
	}

	CallTime due(@Nullable Object[] arguments) {
		ArgumentExpression delay = this.delayExpression;
		if (delay == null) {
			return new CallTime(Objects.requireNonNull(values().delay()), null);
		}
		Object value = delay.evaluate(arguments);
		if (value instanceof Instant time) {
			return new CallTime(Duration.ZERO, time);
		}
		try {
			return new CallTime(MethodAttributes.toDuration(value), null);
		}
		catch (IllegalArgumentException ex) {
			throw delay.failure("must give a Duration, a text such as 30s, a number of milliseconds or an Instant", ex);
		}
	}

	/**
	 * The values of the annotation.
	 *
	 * @param executor empty for the default
	 * @param delay when a call, or the first run of a schedule, is due; {@code null} if
	 * an expression or the schedule says it
	 * @param schedule {@code null} for {@code @Delayed}, and if the method is switched
	 * off
	 */
	record Values(String name, List<String> aliases, String executor, PolicySettings policy, @Nullable Duration delay,
			@Nullable Duration maxWait, @Nullable Duration expireAfter, @Nullable Schedule schedule) {
	}

}
