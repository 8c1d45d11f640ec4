package io.timingwheel;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;

/**
 * A random delay, in one of the forms in which a caller may pass it. The choice prefers
 * corner cases: zero, negative, less than a tick, around the edge of a slot of any level,
 * from nanoseconds to centuries.
 *
 * @param nanos the delay in nanoseconds
 * @param form how to pass it
 */
record RandomDelay(long nanos, Form form) {

	private static final Form[] FORMS = Form.values();

	static RandomDelay choose(RandomGenerator random, long now, long tick, int wheelSize) {
		return new RandomDelay(chooseNanos(random, now, tick, wheelSize), FORMS[random.nextInt(FORMS.length)]);
	}

	private static long chooseNanos(RandomGenerator random, long now, long tick, int wheelSize) {
		int dice = random.nextInt(100);
		if (dice < 8) {
			return 0;
		}
		if (dice < 12) {
			return -upToPowerOfTwo(random, 60);
		}
		if (dice < 14) {
			return Long.MAX_VALUE;
		}
		if (dice < 15) {
			return Long.MIN_VALUE;
		}
		if (dice < 28) {
			return random.nextLong(1, tick + 1);
		}
		if (dice < 55) {
			return atEdgeOfSlot(random, now, tick, wheelSize);
		}
		return upToPowerOfTwo(random, 59);
	}

	private static long atEdgeOfSlot(RandomGenerator random, long now, long tick, int wheelSize) {
		long slot = tick;
		for (int level = random.nextInt(6); level > 0 && slot < (1L << 58) / wheelSize; level--) {
			slot *= wheelSize;
		}
		long edge = (now / slot + random.nextLong(1, 4)) * slot;
		return edge - now + random.nextInt(-1, 2);
	}

	static long upToPowerOfTwo(RandomGenerator random, int maxExponent) {
		return random.nextLong(1L << random.nextInt(maxExponent + 1));
	}

	TimerHandle schedule(TimingWheel wheel, Runnable task) {
		return switch (this.form) {
			case AMOUNT -> wheel.schedule(task, this.nanos, unit());
			case DURATION -> wheel.schedule(task, duration());
			case DEADLINE -> wheel.scheduleAt(task, wheel.nanoTime() + this.nanos);
		};
	}

	boolean reschedule(TimingWheel wheel, TimerHandle handle) {
		return switch (this.form) {
			case AMOUNT -> handle.reschedule(this.nanos, unit());
			case DURATION -> handle.reschedule(duration());
			case DEADLINE -> handle.rescheduleAt(wheel.nanoTime() + this.nanos);
		};
	}

	/** A delay that no long can hold in nanoseconds counts as the longest. */
	private boolean isSaturated() {
		return this.nanos == Long.MAX_VALUE || this.nanos == Long.MIN_VALUE;
	}

	private TimeUnit unit() {
		return isSaturated() ? TimeUnit.DAYS : TimeUnit.NANOSECONDS;
	}

	private Duration duration() {
		return isSaturated() ? Duration.ofSeconds(this.nanos) : Duration.ofNanos(this.nanos);
	}

	/** The forms in which a wheel takes a delay. */
	enum Form {

		AMOUNT, DURATION, DEADLINE

	}

}
