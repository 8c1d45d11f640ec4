package io.timingwheel.spring.task;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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

	private static final Pattern FORMAT = Pattern.compile("(cron|every|fixedDelay)\\((.*?)(?:, ([^,]+))?\\)");

	private final String text;

	/** {@code null} for a period. */
	private final @Nullable CronExpression cron;

	private final ZoneId zone;

	private final Duration period;

	private final boolean fixedDelay;

	private Schedule(String text, @Nullable CronExpression cron, ZoneId zone, Duration period, boolean fixedDelay) {
		this.text = text;
		this.cron = cron;
		this.zone = zone;
		this.period = period;
		this.fixedDelay = fixedDelay;
		Assert.isTrue(text.length() <= MAX_LENGTH,
				() -> "A schedule may have %d characters of text, and this one has %d: %s".formatted(MAX_LENGTH,
						text.length(), text));
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
		return new Schedule("cron(%s, %s)".formatted(normalized, zone), cron, zone, Duration.ZERO, false);
	}

	/**
	 * A schedule with a fixed rhythm: each time is one period after the time before,
	 * however long the runs take.
	 * @param period the period, in whole milliseconds, from 1 ms to 100 years
	 * @throws IllegalArgumentException for another period
	 */
	public static Schedule every(Duration period) {
		return new Schedule("every(" + checked("period", period) + ")", null, ZoneOffset.UTC, period, false);
	}

	/**
	 * A schedule with a pause from the end of each run to the start of the next.
	 * @param delay the pause, in whole milliseconds, from 1 ms to 100 years
	 * @throws IllegalArgumentException for another pause
	 */
	public static Schedule fixedDelay(Duration delay) {
		return new Schedule("fixedDelay(" + checked("delay", delay) + ")", null, ZoneOffset.UTC, delay, true);
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
		Matcher matcher = FORMAT.matcher(text);
		if (!matcher.matches() || matcher.group(1).equals("cron") != (matcher.group(3) != null)) {
			throw invalid(text, null);
		}
		String argument = matcher.group(2);
		try {
			return switch (matcher.group(1)) {
				case "cron" -> cron(argument, ZoneId.of(matcher.group(3)));
				case "every" -> every(Duration.parse(argument));
				default -> fixedDelay(Duration.parse(argument));
			};
		}
		catch (DateTimeException ex) {
			throw invalid(text, ex);
		}
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
		if (this.cron != null) {
			return nextByCron(this.cron, from);
		}
		if (this.fixedDelay) {
			return from.plus(this.period);
		}
		long periods = Duration.between(known, from).dividedBy(this.period);
		return known.plus(this.period.multipliedBy(periods + 1));
	}

	/**
	 * Asks for the next time again and again, each time from a second later, until it is
	 * really later. When a clock is set back by less than an hour, as on Lord Howe
	 * Island, {@link CronExpression} may find the same time again.
	 */
	private @Nullable Instant nextByCron(CronExpression cron, Instant from) {
		ZonedDateTime start = from.atZone(this.zone);
		ZonedDateTime next = cron.next(start);
		for (ZonedDateTime time = start; next != null && !next.isAfter(start); next = cron.next(time)) {
			time = time.plusSeconds(1);
		}
		return (next != null) ? next.toInstant() : null;
	}

	/** Whether the times depend on the end of each run, as for a fixed delay. */
	public boolean isFixedDelay() {
		return this.fixedDelay;
	}

	/**
	 * Whether the times are those of a calendar, by a cron expression, rather than
	 * periods.
	 */
	public boolean isCron() {
		return this.cron != null;
	}

	@Override
	public boolean equals(@Nullable Object other) {
		return other instanceof Schedule schedule && this.text.equals(schedule.text);
	}

	@Override
	public int hashCode() {
		return this.text.hashCode();
	}

	/** The text of this schedule, which {@link #parse} reads. */
	@Override
	public String toString() {
		return this.text;
	}

}
