package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;
import java.util.function.Supplier;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@link Recurring} method of a bean.
 *
 * @param beanName the bean's public name
 * @param method the most specific method
 * @param annotation its annotation
 * @param lazyValues reads the values once
 */
record RecurringMethod(String beanName, Method method, Recurring annotation,
		Supplier<Values> lazyValues) implements TaskMethod {

	/**
	 * What identifies a method, since it has no arguments.
	 */
	static String place(String beanName, Method method) {
		return AnnotatedMethodScanner.publicName(beanName) + "#" + method.getName();
	}

	String place() {
		return place(this.beanName, this.method);
	}

	@Override
	public boolean durable() {
		return this.annotation.durable();
	}

	@Override
	public Common common() {
		return this.lazyValues.get().common();
	}

	boolean isSwitchedOff() {
		return this.lazyValues.get().schedule() == null;
	}

	/**
	 * The schedule of a method that is not switched off.
	 */
	Schedule schedule() {
		return Objects.requireNonNull(this.lazyValues.get().schedule());
	}

	/**
	 * How long after the start the first run is due.
	 * @return the duration, {@code null} for the first time of a cron expression
	 */
	@Nullable Duration initialDelay() {
		Duration initialDelay = this.lazyValues.get().initialDelay();
		return (initialDelay != null || schedule().isCron()) ? initialDelay : Duration.ZERO;
	}

	/**
	 * The values of the annotation.
	 *
	 * @param common those that all task methods have
	 * @param schedule the schedule, {@code null} if the method is switched off
	 * @param initialDelay when the first run is due, {@code null} for the default
	 */
	record Values(Common common, @Nullable Schedule schedule, @Nullable Duration initialDelay) {
	}

}
