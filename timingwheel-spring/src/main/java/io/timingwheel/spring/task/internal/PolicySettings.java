package io.timingwheel.spring.task.internal;

import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The policy of the tasks of one name: how often they are tried, and what limits their
 * starts. A part that is {@code null} is not set. Immutable.
 */
public record PolicySettings(@Nullable Integer maxAttempts, BackoffSettings backoff, @Nullable Integer maxConcurrent,
		@Nullable Integer maxConcurrentPerKey, @Nullable StartRate rate, @Nullable Boolean paused) {

	public static final PolicySettings NONE = new PolicySettings(null, BackoffSettings.NONE, null, null, null, null);

	public PolicySettings {
		Assert.isTrue(maxAttempts == null || maxAttempts >= 1, "max-attempts must be at least 1");
		Assert.isTrue(maxConcurrent == null || maxConcurrent >= 1,
				"max-concurrent must be at least 1 (to start none, set paused)");
		Assert.isTrue(maxConcurrentPerKey == null || maxConcurrentPerKey >= 1,
				"max-concurrent-per-key must be at least 1 (to start none, set paused)");
	}

	public PolicySettings overriddenBy(PolicySettings other) {
		return new PolicySettings((other.maxAttempts != null) ? other.maxAttempts : this.maxAttempts,
				this.backoff.overriddenBy(other.backoff),
				(other.maxConcurrent != null) ? other.maxConcurrent : this.maxConcurrent,
				(other.maxConcurrentPerKey != null) ? other.maxConcurrentPerKey : this.maxConcurrentPerKey,
				(other.rate != null) ? other.rate : this.rate, (other.paused != null) ? other.paused : this.paused);
	}

	public int maxAttempts(int defaultAttempts) {
		return (this.maxAttempts != null) ? this.maxAttempts : defaultAttempts;
	}

	/** Whether the policy can hold a task back that is due. */
	public boolean limitsStarts() {
		return this.maxConcurrent != null || this.maxConcurrentPerKey != null || this.rate != null || isPaused();
	}

	public boolean isPaused() {
		return Boolean.TRUE.equals(this.paused);
	}

	/**
	 * Exponential backoff with jitter. A part that is {@code null} is not set. Immutable.
	 *
	 * @param multiplier how many times longer each delay is than the one before, at least
	 * 1
	 * @param jitter how much a delay varies at most, as a part of the delay, from 0 to 1
	 */
	public record BackoffSettings(@Nullable Duration initial, @Nullable Double multiplier, @Nullable Duration max,
			@Nullable Double jitter) {

		public static final BackoffSettings NONE = new BackoffSettings(null, null, null, null);

		public BackoffSettings {
			Assert.isTrue(initial == null || !initial.isNegative(), "backoff.initial must not be negative");
			Assert.isTrue(multiplier == null || (multiplier >= 1 && Double.isFinite(multiplier)),
					"backoff.multiplier must be at least 1");
			Assert.isTrue(max == null || !max.isNegative(), "backoff.max must not be negative");
			Assert.isTrue(jitter == null || (jitter >= 0 && jitter <= 1), "backoff.jitter must be from 0 to 1");
		}

		public BackoffSettings checkOrder() {
			Assert.isTrue(this.initial == null || this.max == null || this.max.compareTo(this.initial) >= 0,
					"backoff.max must not be shorter than backoff.initial");
			return this;
		}

		/** A longest delay that only this one sets gives way to a longer first delay. */
		public BackoffSettings overriddenBy(BackoffSettings other) {
			Duration max = (other.max != null || this.max == null || other.initial == null
					|| other.initial.compareTo(this.max) <= 0) ? this.max : other.initial;
			return new BackoffSettings((other.initial != null) ? other.initial : this.initial,
					(other.multiplier != null) ? other.multiplier : this.multiplier,
					(other.max != null) ? other.max : max, (other.jitter != null) ? other.jitter : this.jitter);
		}

		public BackoffSettings withoutJitter() {
			return new BackoffSettings(this.initial, this.multiplier, this.max, 0.0);
		}

		/** The delay after a failure, in whole milliseconds, if all parts are set. */
		public Duration after(int failures) {
			double exact = Objects.requireNonNull(this.initial).toMillis()
					* Math.pow(Objects.requireNonNull(this.multiplier), failures - 1.0);
			double limited = Math.min(exact, Objects.requireNonNull(this.max).toMillis());
			double spread = (ThreadLocalRandom.current().nextDouble() * 2 - 1) * Objects.requireNonNull(this.jitter);
			return Duration.ofMillis(Math.max(0, Math.round(limited * (1 + spread))));
		}

	}

	/** How many tasks may start in a period, spread evenly. Immutable. */
	public record StartRate(long count, TimeUnit unit) {

		private static final Pattern FORMAT = Pattern.compile("(\\d{1,9})\\s*/\\s*([smhd])");

		private static final Map<String, TimeUnit> UNITS = Map.of("s", TimeUnit.SECONDS, "m", TimeUnit.MINUTES, "h",
				TimeUnit.HOURS, "d", TimeUnit.DAYS);

		private static final long BURSTS_PER_SECOND = 10;

		public StartRate {
			Assert.isTrue(count >= 1 && count <= unit.toNanos(1),
					"A rate must be at least 1 and at most 1 per nanosecond");
			Assert.isTrue(UNITS.containsValue(unit), () -> "A rate cannot count starts per " + unit);
		}

		public static StartRate parse(String text) {
			Matcher matcher = FORMAT.matcher(text.strip());
			Assert.isTrue(matcher.matches(),
					() -> "\"%s\" is not a rate such as 100/s, 20/m or 5000/h".formatted(text));
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

}
