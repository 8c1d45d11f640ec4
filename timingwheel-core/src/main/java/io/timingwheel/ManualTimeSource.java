package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A clock for tests: it stands still until {@link #advance} moves it, and drives the
 * wheels that were built with it, which have no thread.
 *
 * <pre class="code">
 * ManualTimeSource time = new ManualTimeSource();
 * TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(time).build();
 * wheel.schedule(() -&gt; fired.add("a"), Duration.ofMinutes(30));
 * time.advance(Duration.ofMinutes(30)); // "a" has run
 * </pre>
 *
 * <p>
 * May be read from any thread. One thread at a time may advance it.
 */
public final class ManualTimeSource implements TimeSource {

	private final List<Driver> drivers = new CopyOnWriteArrayList<>();

	private final AtomicBoolean advancing = new AtomicBoolean();

	private final long origin;

	private volatile long elapsed;

	/**
	 * Creates a clock.
	 */
	public ManualTimeSource() {
		this(0);
	}

	/**
	 * Creates a clock that starts at an arbitrary reading, as the JVM's does.
	 */
	ManualTimeSource(long origin) {
		this.origin = origin;
	}

	@Override
	public long nanoTime() {
		return this.origin + this.elapsed;
	}

	/**
	 * Moves the time and fires on the calling thread what falls due, from due tick to due
	 * tick: in a task, {@link #nanoTime()} is the task's tick. Timers that are scheduled
	 * on the way and due by the target fire, too.
	 * @param by how far; zero fires what is due now. The clock ends 292 years after its
	 * creation and stays there
	 * @throws IllegalArgumentException if negative
	 * @throws IllegalStateException if called from a task or while another thread
	 * advances the clock
	 */
	public void advance(Duration by) {
		long nanos = TimeUnit.NANOSECONDS.convert(by);
		if (nanos < 0) {
			throw new IllegalArgumentException("Time cannot go back: " + by);
		}
		if (!this.advancing.compareAndSet(false, true)) {
			throw new IllegalStateException(
					"The clock is being advanced: a task must not advance it, nor two threads at once");
		}
		try {
			long target = saturatedSum(this.elapsed, nanos);
			while (turnBy(target)) {
				// One more may be due.
			}
			this.elapsed = target;
		}
		finally {
			this.advancing.set(false);
		}
	}

	/**
	 * Lets the driver act that has something to do first, at that time. Another thread
	 * may add timers meanwhile or stop a wheel, so that its driver is asked only once.
	 * @return false if none has anything to do by the target
	 */
	private boolean turnBy(long target) {
		Driver next = null;
		long first = target - this.elapsed;
		for (Driver driver : this.drivers) {
			long nanos = driver.nanosUntilNextWake();
			if (nanos <= first && nanos != Long.MAX_VALUE && (next == null || nanos < first)) {
				next = driver;
				first = nanos;
			}
		}
		if (next == null) {
			return false;
		}
		this.elapsed += Math.max(0, first);
		next.turn();
		return true;
	}

	private static long saturatedSum(long a, long b) {
		long sum = a + b;
		return (sum < 0) ? Long.MAX_VALUE : sum;
	}

	void add(Driver driver) {
		this.drivers.add(driver);
	}

	void remove(Driver driver) {
		this.drivers.remove(driver);
	}

}
