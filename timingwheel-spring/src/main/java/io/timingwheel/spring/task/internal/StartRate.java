package io.timingwheel.spring.task.internal;

import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.springframework.util.Assert;

/**
 * How many tasks may start in a period, spread evenly. Immutable.
 */
public record StartRate(long count, TimeUnit unit) {

	private static final Pattern FORMAT = Pattern.compile("(\\d{1,9})\\s*/\\s*([smhd])");

	private static final Map<String, TimeUnit> UNITS = Map.of("s", TimeUnit.SECONDS, "m", TimeUnit.MINUTES, "h",
			TimeUnit.HOURS, "d", TimeUnit.DAYS);

	private static final long BURSTS_PER_SECOND = 10;

	public StartRate {
		Assert.isTrue(count >= 1 && count <= unit.toNanos(1), "A rate must be at least 1 and at most 1 per nanosecond");
		Assert.isTrue(UNITS.containsValue(unit), () -> "A rate cannot count starts per " + unit);
	}

	public static StartRate parse(String text) {
		Matcher matcher = FORMAT.matcher(text.strip());
		Assert.isTrue(matcher.matches(), () -> "\"%s\" is not a rate such as 100/s, 20/m or 5000/h".formatted(text));
		long count = Long.parseLong(matcher.group(1));
		Assert.isTrue(count > 0, () -> "\"%s\" is not a rate: it must be at least 1".formatted(text));
		return new StartRate(count, Objects.requireNonNull(UNITS.get(matcher.group(2))));
	}

	public long intervalNanos() {
		long period = this.unit.toNanos(1);
		return (period + this.count - 1) / this.count;
	}

	/** How many tasks may start at once: what is allowed in a tenth of a second. */
	public long burst() {
		return Math.max(1, this.count / (BURSTS_PER_SECOND * this.unit.toSeconds(1)));
	}

	public long startsAllowed(long nextStart, long now) {
		return burst() - (Math.max(0, nextStart - now) + intervalNanos() - 1) / intervalNanos();
	}

	public long nextStart(long nextStart, long now) {
		return ((nextStart - now > 0) ? nextStart : now) + intervalNanos();
	}

	public long allowedFrom(long nextStart, long starts) {
		return nextStart - (burst() - starts) * intervalNanos();
	}

	@Override
	public String toString() {
		return this.count + "/" + this.unit.name().substring(0, 1).toLowerCase(Locale.ROOT);
	}

}
