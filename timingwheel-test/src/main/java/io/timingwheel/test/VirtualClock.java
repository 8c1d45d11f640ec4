package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.task.internal.ManualTime;
import org.jspecify.annotations.Nullable;

/**
 * The clock of virtual time, and the failures of the tasks that go by it. Thread-safe.
 */
final class VirtualClock implements ManualTime {

	/** The tick of wheels on this clock: whatever is due at the target is not late. */
	static final Duration TICK = Duration.ofNanos(1);

	/** The last time that a task in memory can be due. */
	private static final Instant END = Instant.EPOCH.plusNanos(Long.MAX_VALUE);

	private final ManualTimeSource timeSource = new ManualTimeSource();

	private final Clock clock = ((InstantSource) this::now).withZone(ZoneId.systemDefault());

	private final List<Throwable> failures = new ArrayList<>();

	/** How many of the failures are not thrown any more. */
	private int kept;

	private volatile Reading start = read();

	/** The thread that moves the time if any does. */
	private volatile Thread testThread = Thread.currentThread();

	private volatile @Nullable Thread movingThread;

	@Override
	public ManualTimeSource timeSource() {
		return this.timeSource;
	}

	@Override
	public Clock clock() {
		return this.clock;
	}

	Instant now() {
		Reading start = this.start;
		return start.instant().plusNanos(this.timeSource.nanoTime() - start.nanoTime());
	}

	/**
	 * The time by the clock of a store, which has milliseconds.
	 */
	long millis() {
		return now().toEpochMilli();
	}

	/**
	 * Sets the time to the real time. The caller is the thread of the test.
	 */
	void reset() {
		this.start = read();
		this.testThread = Thread.currentThread();
		synchronized (this.failures) {
			this.failures.clear();
			this.kept = 0;
		}
	}

	/**
	 * Stores have milliseconds, so the time starts at a full millisecond.
	 */
	private Reading read() {
		return new Reading(Instant.now().truncatedTo(ChronoUnit.MILLIS), this.timeSource.nanoTime());
	}

	/**
	 * Moves the time.
	 * @throws IllegalArgumentException if the time would go beyond its end, or all tests
	 * together beyond that of the time source
	 * @throws IllegalStateException if a body calls this method, or another thread moves
	 * the time
	 */
	void advance(Duration by) {
		if (by.compareTo(Duration.between(now(), END)) > 0) {
			throw new IllegalArgumentException("Virtual time ends at %s. Move it less far".formatted(END));
		}
		if (by.toNanos() > Long.MAX_VALUE - this.timeSource.nanoTime()) {
			throw new IllegalArgumentException(
					"The time of one application context ends after 292 years, which all its tests share. Move it less far,"
							+ " or close the context earlier with @DirtiesContext");
		}
		beginMove();
		try {
			this.timeSource.advance(by);
		}
		finally {
			this.movingThread = null;
		}
	}

	private synchronized void beginMove() {
		checkStandsStill("move the time that it runs in");
		this.movingThread = Thread.currentThread();
	}

	/**
	 * Checks that no thread moves the time.
	 * @throws IllegalStateException if a thread does
	 */
	void checkStandsStill(String what) {
		Thread moving = this.movingThread;
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
		Thread current = Thread.currentThread();
		boolean body = current == this.movingThread;
		if (!body && current != this.testThread) {
			return;
		}
		throw new IllegalStateException(("The %s waits for the task \"%s\", which %s, and so it would wait for ever: "
				+ "virtual time stands still meanwhile. %s")
			.formatted(body ? "body of a task" : "test", task, PendingTasks.due(dueAt, now()),
					body ? "Let the body return a future instead"
							: "Move the time before, as in time.advance(Duration.ofMinutes(30))"));
	}

	@Override
	public void failed(String task, Throwable error) {
		synchronized (this.failures) {
			if (this.failures.stream().noneMatch((other) -> other == error)) {
				this.failures.add(error);
			}
		}
	}

	List<Throwable> failures() {
		synchronized (this.failures) {
			return List.copyOf(this.failures);
		}
	}

	/**
	 * Keeps the failures so far, so that {@link #takeFailures()} does not give them.
	 */
	void keepFailures() {
		synchronized (this.failures) {
			this.kept = this.failures.size();
		}
	}

	List<Throwable> takeFailures() {
		synchronized (this.failures) {
			List<Throwable> others = this.failures.subList(this.kept, this.failures.size());
			List<Throwable> taken = List.copyOf(others);
			others.clear();
			return taken;
		}
	}

	private record Reading(Instant instant, long nanoTime) {

	}

}
