package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.task.internal.ManualTime;
import org.jspecify.annotations.Nullable;

/**
 * The clock of virtual time, and the failures of the tasks that go by it. Thread-safe.
 */
final class VirtualClock implements ManualTime {

	/** The tick of wheels on this clock: whatever is due at the target is not late. */
	static final Duration TICK = Duration.ofNanos(1);

	/** How far one time can be moved. The due times of tasks in memory end in 2262. */
	private static final Duration END = Duration.ofDays(200 * 365);

	private final ManualTimeSource timeSource = new ManualTimeSource();

	private final Clock clock = ((InstantSource) this::now).withZone(ZoneId.systemDefault());

	private final List<Throwable> failures = new ArrayList<>();

	/** The time at which the time source reads 0. */
	private volatile Instant origin = Instant.EPOCH;

	private volatile Thread testThread = Thread.currentThread();

	private final AtomicReference<@Nullable Thread> moving = new AtomicReference<>();

	VirtualClock() {
		reset();
	}

	@Override
	public ManualTimeSource timeSource() {
		return this.timeSource;
	}

	@Override
	public Clock clock() {
		return this.clock;
	}

	Instant now() {
		return this.origin.plusNanos(this.timeSource.nanoTime());
	}

	/**
	 * The caller is the thread of the test. Stores have milliseconds, so the time starts
	 * at a full one.
	 */
	final synchronized void reset() {
		this.origin = Instant.now().truncatedTo(ChronoUnit.MILLIS).minusNanos(this.timeSource.nanoTime());
		this.testThread = Thread.currentThread();
		this.failures.clear();
	}

	void advance(Duration by) {
		if (by.compareTo(END.minusNanos(this.timeSource.nanoTime())) > 0) {
			throw new IllegalArgumentException("All tests of one application context can move its time by 200 years"
					+ " together. Move it less far, or close the context with @DirtiesContext");
		}
		while (!this.moving.compareAndSet(null, Thread.currentThread())) {
			checkStandsStill("move the time that it runs in");
		}
		try {
			this.timeSource.advance(by);
		}
		finally {
			this.moving.set(null);
		}
	}

	void checkStandsStill(String what) {
		Thread moving = this.moving.get();
		if (moving == Thread.currentThread()) {
			throw new IllegalStateException(
					"The body of a task cannot " + what + ". Do that in the test, after the call that runs this body");
		}
		if (moving != null) {
			throw new IllegalStateException("The thread \"" + moving.getName()
					+ "\" is moving the time. No other thread can move or reset it meanwhile");
		}
	}

	@Override
	public void checkWait(String task, Instant dueAt) {
		boolean body = Thread.currentThread() == this.moving.get();
		if (body || Thread.currentThread() == this.testThread) {
			throw new IllegalStateException(
					("The %s waits for the task \"%s\", which %s, and so it would wait for ever: "
							+ "virtual time stands still meanwhile. %s")
						.formatted(body ? "body of a task" : "test", task, Descriptions.due(dueAt, now()),
								body ? "Let the body return a future instead"
										: "Move the time before, as in time.advance(Duration.ofMinutes(30))"));
		}
	}

	@Override
	public synchronized void failed(Throwable error) {
		if (this.failures.stream().noneMatch((other) -> other == error)) {
			this.failures.add(error);
		}
	}

	synchronized List<Throwable> takeFailures() {
		List<Throwable> taken = List.copyOf(this.failures);
		this.failures.clear();
		return taken;
	}

}
