package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.DateTimeException;
import java.time.ZoneId;

import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.aop.AttributeResolver;
import io.timingwheel.spring.aop.FixedAttribute;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import io.timingwheel.spring.task.Schedule;
import org.jspecify.annotations.Nullable;

import org.springframework.util.StringUtils;

/**
 * When a {@link Recurring} method runs. Thread-safe.
 */
final class RecurringTimes {

	private final Method method;

	private final Kind kind;

	private final FixedAttribute<String> text;

	private final FixedAttribute<String> zone;

	/**
	 * Reads the times of an annotation.
	 * @throws InvalidAnnotatedMethodException if there is none or more than one, or if it
	 * cannot be read, as far as this can be known without beans
	 */
	RecurringTimes(Method method, Recurring annotation, AttributeResolver attributes) {
		this.method = method;
		this.kind = kind(method, annotation);
		this.text = attributes.text(method, "the %s of @Recurring".formatted(this.kind.attribute),
				this.kind.text(annotation), String::strip);
		this.zone = attributes.text(method, "the zone of @Recurring", annotation.zone(), String::strip);
		if (this.kind != Kind.CRON && StringUtils.hasText(annotation.zone())) {
			throw new InvalidAnnotatedMethodException(method, "@Recurring has a zone, but no cron expression",
					"remove the zone, or set cron");
		}
		if (this.kind == Kind.CRON && StringUtils.hasText(annotation.initialDelay())) {
			throw new InvalidAnnotatedMethodException(method,
					"@Recurring has an initialDelay, but a cron expression sets the first time too",
					"remove the initialDelay, or use every or fixedDelay");
		}
		if (this.text.isResolved() && this.zone.isResolved()) {
			schedule();
		}
	}

	private static Kind kind(Method method, Recurring annotation) {
		Kind found = null;
		for (Kind kind : Kind.values()) {
			if (StringUtils.hasText(kind.text(annotation))) {
				if (found != null) {
					throw new InvalidAnnotatedMethodException(method,
							"@Recurring has both %s and %s".formatted(found.attribute, kind.attribute),
							"remove one of them");
				}
				found = kind;
			}
		}
		if (found == null) {
			throw new InvalidAnnotatedMethodException(method, "@Recurring does not say when the method runs",
					"set cron, every or fixedDelay");
		}
		return found;
	}

	/**
	 * The schedule. May instantiate beans if a text holds a bean expression.
	 * @return the schedule, {@code null} if the method is switched off
	 * @throws InvalidAnnotatedMethodException if a text cannot be read
	 */
	@Nullable Schedule schedule() {
		String text = this.text.get();
		if (text.equals(Recurring.DISABLED)) {
			return null;
		}
		try {
			return switch (this.kind) {
				case CRON -> Schedule.cron(text, zone());
				case EVERY -> Schedule.every(AttributeResolver.toDuration(text));
				case FIXED_DELAY -> Schedule.fixedDelay(AttributeResolver.toDuration(text));
			};
		}
		catch (IllegalArgumentException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the %s \"%s\" of @Recurring is unusable (%s)".formatted(this.kind.attribute, text,
							ex.getMessage()),
					"set %s, or \"-\" to switch the method off".formatted(this.kind.example), ex);
		}
	}

	private ZoneId zone() {
		String id = this.zone.get();
		try {
			return id.isEmpty() ? ZoneId.systemDefault() : ZoneId.of(id);
		}
		catch (DateTimeException ex) {
			throw new InvalidAnnotatedMethodException(this.method,
					"the zone \"%s\" of @Recurring is unusable (%s)".formatted(id, ex.getMessage()),
					"set a time zone such as Europe/Berlin, or remove it", ex);
		}
	}

	private enum Kind {

		CRON("cron", "an expression of six fields such as 0 0 3 * * *, or a macro such as @daily"),

		EVERY("every", "a period such as 30s, 10m or PT1H"),

		FIXED_DELAY("fixedDelay", "a pause such as 30s, 10m or PT1H");

		private final String attribute;

		private final String example;

		Kind(String attribute, String example) {
			this.attribute = attribute;
			this.example = example;
		}

		String text(Recurring annotation) {
			return switch (this) {
				case CRON -> annotation.cron();
				case EVERY -> annotation.every();
				case FIXED_DELAY -> annotation.fixedDelay();
			};
		}

	}

}
