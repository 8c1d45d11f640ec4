package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Objects;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AnnotatedMethodScanner;
import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.aop.PolicyAttribute;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

/**
 * A checked {@link Recurring} method of a bean.
 *
 * @param beanName the bean's public name
 * @param method the most specific method
 * @param nameText the name of its task
 * @param times its schedule
 * @param initialDelayText when the first run is due, {@code null} for the default
 * @param executorName the executor's name, empty for the default
 * @param durable whether all nodes together have one run at each time
 * @param missed what becomes of missed times
 * @param policy what limits its starts
 */
record RecurringMethod(String beanName, Method method, FixedAttribute<String> nameText, RecurringTimes times,
		@Nullable FixedAttribute<Duration> initialDelayText, FixedAttribute<String> executorName, boolean durable,
		Missed missed, PolicyAttribute policy) {

	/**
	 * What identifies a method, since it has no arguments.
	 */
	static String place(String beanName, Method method) {
		return AnnotatedMethodScanner.publicName(beanName) + "#" + method.getName();
	}

	String place() {
		return place(this.beanName, this.method);
	}

	String name() {
		return this.nameText.get();
	}

	String executor() {
		return this.executorName.get();
	}

	/**
	 * The schedule of a method that is not switched off.
	 */
	Schedule requiredSchedule() {
		return Objects.requireNonNull(this.times.schedule());
	}

	/**
	 * How long after the start the first run is due.
	 * @return the duration, {@code null} for the first time of a cron expression
	 */
	@Nullable Duration initialDelay() {
		if (this.initialDelayText != null) {
			return this.initialDelayText.get();
		}
		return requiredSchedule().isCron() ? null : Duration.ZERO;
	}

	/**
	 * Resolves the attributes that depend on beans.
	 * @throws InvalidAnnotatedMethodException if one of them has no usable value
	 */
	void resolve() {
		name();
		executor();
		this.policy.get();
		if (this.times.schedule() != null) {
			initialDelay();
		}
	}

}
