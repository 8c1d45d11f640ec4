package io.timingwheel.spring.task;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Objects;

import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.scheduling.support.CronExpression;
import org.springframework.util.Assert;

/**
 * When a task runs again and again: by a cron expression, with a fixed rhythm, or with a
 * pause after each run. Two schedules are equal if they have the same text. Immutable and
 * thread-safe.
 *
 * <p>
 * {@link #toString()} gives the text under which a store keeps a schedule, such as
 * {@code cron(0 0 3 * * *, Europe/Berlin)} or {@code every(PT5M)}. {@link #parse} reads
 * it.
 *
 * @since 0.1
 */
public final class Schedule {

	/** How many characters the text of a schedule may have. */
	public static final int MAX_LENGTH = 255;

	private static final Duration MAX_PERIOD = Duration.ofDays(36_500);

	private static final int NANOS_PER_MILLI = 1_000_000;

	private static final String ZONE_SEPARATOR = ", ";

	private final Kind kind;

	private final String text;

	private final @Nullable CronExpression cron;

	private final ZoneId zone;

	private final Duration period;

	private Schedule(Kind kind, String arguments, @Nullable CronExpression cron, ZoneId zone, Duration period) {
		this.kind = kind;
		this.text = kind.word + "(" + arguments + ")";
		this.cron = cron;
		this.zone = zone;
		this.period = period;
		Assert.isTrue(this.text.length() <= MAX_LENGTH,
				() -> "A schedule may have %d characters of text, and this one has %d: %s".formatted(MAX_LENGTH,
						this.text.length(), this.text));
	}

	/**
	 * A schedule by a cron expression. The times are those of Spring's
	 * {@link CronExpression}: when clocks are set forward, the times that do not exist
	 * are left out, and when clocks are set back, there are times that come twice.
	 * @param expression an expression of six fields, from seconds to days of the week, or
	 * a macro such as {@code @daily}
	 * @param zone the time zone of the fields
	 * @throws IllegalArgumentException if the expression cannot be parsed, or never
	 * matches
	 */
	public static Schedule cron(String expression, ZoneId zone) {
		Assert.notNull(expression, "The cron expression must not be null");
		Assert.notNull(zone, "The time zone must not be null");
		String normalized = expression.strip().replaceAll("\\s+", " ");
		CronExpression cron = CronExpression.parse(normalized);
		Assert.isTrue(cron.next(ZonedDateTime.ofInstant(Instant.EPOCH, zone)) != null,
				() -> "The cron expression \"%s\" never matches a time".formatted(normalized));
		return new Schedule(Kind.CRON, normalized + ZONE_SEPARATOR + zone, cron, zone, Duration.ZERO);
	}

	/**
	 * A schedule with a fixed rhythm: each time is one period after the time before,
	 * however long the runs take.
	 * @param period the period, in whole milliseconds, from 1 ms to 100 years
	 * @throws IllegalArgumentException for another period
	 */
	public static Schedule every(Duration period) {
		return new Schedule(Kind.EVERY, checked("period", period).toString(), null, ZoneOffset.UTC, period);
	}

	/**
	 * A schedule with a pause from the end of each run to the start of the next.
	 * @param delay the pause, in whole milliseconds, from 1 ms to 100 years
	 * @throws IllegalArgumentException for another pause
	 */
	public static Schedule fixedDelay(Duration delay) {
		return new Schedule(Kind.FIXED_DELAY, checked("delay", delay).toString(), null, ZoneOffset.UTC, delay);
	}

	private static Duration checked(String what, Duration period) {
		Assert.notNull(period, () -> "The " + what + " must not be null");
		Assert.isTrue(
				period.compareTo(Duration.ofMillis(1)) >= 0 && period.compareTo(MAX_PERIOD) <= 0
						&& period.getNano() % NANOS_PER_MILLI == 0,
				() -> "The %s of a schedule must be at least 1ms and at most 100 years, in whole milliseconds, not %s"
					.formatted(what, DurationFormatterUtils.print(period, DurationFormat.Style.COMPOSITE)));
		return period;
	}

	/**
	 * Reads a text that {@link #toString()} has given.
	 * @throws IllegalArgumentException if the text is none of a schedule
	 */
	public static Schedule parse(String text) {
		Assert.notNull(text, "The text must not be null");
		for (Kind kind : Kind.values()) {
			if (text.startsWith(kind.word + "(") && text.endsWith(")")) {
				return parse(kind, text, text.substring(kind.word.length() + 1, text.length() - 1));
			}
		}
		throw invalid(text, null);
	}

	private static Schedule parse(Kind kind, String text, String arguments) {
		try {
			if (kind != Kind.CRON) {
				Duration period = Duration.parse(arguments);
				return (kind == Kind.EVERY) ? every(period) : fixedDelay(period);
			}
			int separator = arguments.lastIndexOf(ZONE_SEPARATOR);
			if (separator >= 0) {
				return cron(arguments.substring(0, separator),
						ZoneId.of(arguments.substring(separator + ZONE_SEPARATOR.length())));
			}
		}
		catch (DateTimeException ex) {
			throw invalid(text, ex);
		}
		throw invalid(text, null);
	}

	private static IllegalArgumentException invalid(String text, @Nullable Exception cause) {
		return new IllegalArgumentException(
				"\"%s\" is not a schedule such as cron(0 0 3 * * *, Europe/Berlin), every(PT5M) or fixedDelay(PT30S)"
					.formatted(text),
				cause);
	}

	/**
	 * The first time of this schedule after another time, {@code null} if there is none.
	 * A rhythm begins one period after that time.
	 */
	public @Nullable Instant next(Instant time) {
		return next(time, time);
	}

	/**
	 * The first time of this schedule after another time, if one of its times is known.
	 * @param known a time of this schedule, from which its rhythm counts
	 * @param after any time; a time before {@code known} counts as {@code known}
	 * @return the first time that is later than both, {@code null} if there is none; for
	 * a fixed delay, one delay after the later of them
	 */
	public @Nullable Instant next(Instant known, Instant after) {
		Instant from = after.isAfter(known) ? after : known;
		return switch (this.kind) {
			case CRON -> nextByCron(from);
			case EVERY -> {
				long periods = Duration.between(known, from).dividedBy(this.period);
				yield known.plus(this.period.multipliedBy(periods + 1));
			}
			case FIXED_DELAY -> from.plus(this.period);
		};
	}

	/**
	 * Asks for the next time again and again, each time from a second later, until it is
	 * really later. When a clock is set back by less than an hour, as on Lord Howe
	 * Island, {@link CronExpression} may find the same time again.
	 */
	private @Nullable Instant nextByCron(Instant from) {
		CronExpression cron = Objects.requireNonNull(this.cron);
		ZonedDateTime start = from.atZone(this.zone);
		ZonedDateTime next = cron.next(start);
		for (ZonedDateTime time = start; next != null && !next.isAfter(start); next = cron.next(time)) {
			time = time.plusSeconds(1);
		}
		return (next != null) ? next.toInstant() : null;
	}

	/**
	 * Whether the times depend on the end of each run, as for a fixed delay.
	 */
	public boolean isFixedDelay() {
		return this.kind == Kind.FIXED_DELAY;
	}

	/**
	 * Whether the times are those of a calendar, by a cron expression, rather than
	 * periods.
	 */
	public boolean isCron() {
		return this.kind == Kind.CRON;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof Schedule schedule && this.text.equals(schedule.text);
	}

	@Override
	public int hashCode() {
		return this.text.hashCode();
	}

	/**
	 * The text of this schedule, which {@link #parse} reads.
	 */
	@Override
	public String toString() {
		return this.text;
	}

	private enum Kind {

		CRON("cron"), EVERY("every"), FIXED_DELAY("fixedDelay");

		private final String word;

		Kind(String word) {
			this.word = word;
		}

	}

}
