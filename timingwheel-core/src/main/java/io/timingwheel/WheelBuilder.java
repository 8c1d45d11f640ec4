package io.timingwheel;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.BiConsumer;

/** Collects and checks the settings of a wheel. */
final class WheelBuilder implements TimingWheel.Builder {

	private static final int MAX_WHEEL_SIZE = 1 << 12;

	private static final int MAX_SHARDS = 1 << 10;

	private static final Duration MAX_TICK = Duration.ofDays(1);

	final Executor executor;

	Duration tick = Duration.ofMillis(1);

	int wheelSize = 256;

	int shards = defaultShards(Runtime.getRuntime().availableProcessors());

	long maxPending = Long.MAX_VALUE;

	ThreadFactory threadFactory = DriverThread::newDaemon;

	TimeSource timeSource = TimeSource.system();

	BiConsumer<? super Runnable, ? super Throwable> errorHandler = Log::taskFailed;

	/** How long {@code stop} waits for the batch in hand. */
	Duration stopWait = Duration.ofSeconds(5);

	WheelBuilder(Executor executor) {
		this.executor = executor;
	}

	/** Twice the processors, so that two busy threads rarely share a shard. */
	private static int defaultShards(int processors) {
		return Math.min(64, Integer.highestOneBit(Math.max(1, 2 * processors - 1)) << 1);
	}

	@Override
	public WheelBuilder tick(Duration tick) {
		if (tick.isNegative() || tick.isZero() || tick.compareTo(MAX_TICK) > 0) {
			throw new IllegalArgumentException(
					"tick must be a positive duration of at most one day, but is " + tick + ": 1 ms suits most");
		}
		this.tick = tick;
		return this;
	}

	@Override
	public WheelBuilder wheelSize(int slotsPerLevel) {
		this.wheelSize = powerOfTwo("wheelSize", slotsPerLevel, 2, MAX_WHEEL_SIZE);
		return this;
	}

	@Override
	public WheelBuilder shards(int shards) {
		this.shards = powerOfTwo("shards", shards, 1, MAX_SHARDS);
		return this;
	}

	private static int powerOfTwo(String name, int value, int min, int max) {
		if (value < min || value > max || Integer.bitCount(value) != 1) {
			int below = Math.min(max, Math.max(min, Integer.highestOneBit(Math.max(1, value))));
			int above = Math.min(max, below << 1);
			throw new IllegalArgumentException(
					"%s must be a power of two from %d to %d, but is %d: take %s".formatted(name, min, max, value,
							(value > min && value < max) ? below + " or " + above : String.valueOf(below)));
		}
		return value;
	}

	@Override
	public WheelBuilder maxPending(long limit) {
		if (limit < 1) {
			throw new IllegalArgumentException(
					"maxPending must be at least 1, but is " + limit + ": leave it unset for no limit");
		}
		this.maxPending = limit;
		return this;
	}

	@Override
	public WheelBuilder threadFactory(ThreadFactory factory) {
		this.threadFactory = Objects.requireNonNull(factory, "factory");
		return this;
	}

	@Override
	public WheelBuilder timeSource(TimeSource source) {
		this.timeSource = Objects.requireNonNull(source, "source");
		return this;
	}

	@Override
	public WheelBuilder onError(BiConsumer<? super Runnable, ? super Throwable> handler) {
		this.errorHandler = Objects.requireNonNull(handler, "handler");
		return this;
	}

	@Override
	public TimingWheel build() {
		return new HierarchicalTimingWheel(this);
	}

}
