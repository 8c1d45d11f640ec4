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
import io.timingwheel.test.VirtualTime.OnFailure;
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

	private OnFailure onFailure = OnFailure.THROW;

	private volatile Reading start = read();

	private volatile Thread testThread = Thread.currentThread();

	private final AtomicReference<@Nullable Thread> moving = new AtomicReference<>();

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

	/** The caller is the thread of the test. */
	synchronized void reset() {
		this.start = read();
		this.testThread = Thread.currentThread();
		this.failures.clear();
		this.kept = 0;
		this.onFailure = OnFailure.THROW;
	}

	/** Stores have milliseconds, so the time starts at a full one. */
	private Reading read() {
		return new Reading(Instant.now().truncatedTo(ChronoUnit.MILLIS), this.timeSource.nanoTime());
	}

	void advance(Duration by) {
		Duration left = Duration.ofNanos(Long.MAX_VALUE - this.timeSource.nanoTime());
		if (by.compareTo(left) > 0 || by.compareTo(Duration.between(now(), END)) > 0) {
			throw new IllegalArgumentException(("Virtual time ends at %s, and that of one application context after 292"
					+ " years, which all its tests share. Move it less far, or close the context with @DirtiesContext")
				.formatted(END));
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

	synchronized List<Throwable> failures() {
		return List.copyOf(this.failures);
	}

	/** What was collected so far is not thrown any more. */
	synchronized void onFailure(OnFailure mode) {
		if (this.onFailure == OnFailure.COLLECT) {
			this.kept = this.failures.size();
		}
		this.onFailure = mode;
	}

	/** The failures to throw, which this object forgets. */
	synchronized List<Throwable> takeFailures() {
		if (this.onFailure == OnFailure.COLLECT) {
			return List.of();
		}
		List<Throwable> others = this.failures.subList(this.kept, this.failures.size());
		List<Throwable> taken = List.copyOf(others);
		others.clear();
		return taken;
	}

	private record Reading(Instant instant, long nanoTime) {

	}

}
