package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A clock for tests. The time stands still until {@link #advance} moves it. Wheels with
 * this clock have no thread: {@code advance} fires their timers. Any thread may read the
 * clock. Only one thread at a time may advance it.
 *
 * <pre class="code">
 * ManualTimeSource time = new ManualTimeSource();
 * TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(time).build();
 * wheel.schedule(() -&gt; fired.add("a"), Duration.ofMinutes(30));
 * time.advance(Duration.ofMinutes(30)); // "a" has run
 * </pre>
 *
 * @since 0.1
 */
public final class ManualTimeSource implements TimeSource {

	private final List<Driver> drivers = new CopyOnWriteArrayList<>();

	private final AtomicBoolean advancing = new AtomicBoolean();

	private final long origin;

	private volatile long elapsed;

	/** Creates a clock that reads 0. */
	public ManualTimeSource() {
		this(0);
	}

	/** Starts at an arbitrary reading, as the JVM's clock does. */
	ManualTimeSource(long origin) {
		this.origin = origin;
	}

	@Override
	public long nanoTime() {
		return this.origin + this.elapsed;
	}

	/**
	 * Advances the time from due tick to due tick, and fires the timers that are due on
	 * the calling thread. In a task, {@link #nanoTime()} is the task's tick. Timers that
	 * a task schedules fire, too.
	 * @param by how far. Zero fires the timers that are due now. The time stops 292 years
	 * after its first reading
	 * @throws IllegalArgumentException if the duration is negative
	 * @throws IllegalStateException if a task calls this method, or another thread is
	 * advancing the clock
	 */
	public void advance(Duration by) {
		long nanos = TimeUnit.NANOSECONDS.convert(by);
		if (nanos < 0) {
			throw new IllegalArgumentException("The time cannot go back: " + by);
		}
		if (!this.advancing.compareAndSet(false, true)) {
			throw new IllegalStateException(
					"The clock is being advanced already. Only one thread may advance it at a time, and no task");
		}
		try {
			long target = WheelClock.saturatedSum(this.elapsed, nanos);
			while (turnBefore(target)) {
				// The next turn may find more to do.
			}
			this.elapsed = target;
		}
		finally {
			this.advancing.set(false);
		}
	}

	/**
	 * Advances the time to the next wake-up of a driver, and lets it take one turn. Each
	 * driver is asked only once, since other threads may add timers at the same time.
	 */
	private boolean turnBefore(long target) {
		Driver next = null;
		long earliest = target - this.elapsed;
		for (Driver driver : this.drivers) {
			long nanos = driver.nanosUntilNextWake();
			if (nanos <= earliest && nanos != Long.MAX_VALUE && (next == null || nanos < earliest)) {
				next = driver;
				earliest = nanos;
			}
		}
		if (next == null) {
			return false;
		}
		this.elapsed += Math.max(0, earliest);
		next.turn();
		return true;
	}

	void add(Driver driver) {
		this.drivers.add(driver);
	}

	void remove(Driver driver) {
		this.drivers.remove(driver);
	}

}
