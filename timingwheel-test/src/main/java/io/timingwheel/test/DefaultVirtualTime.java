package io.timingwheel.test;

import java.lang.reflect.UndeclaredThrowableException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.SmartInitializingSingleton;

/**
 * The virtual time of one wheel and, if there is one, one store.
 */
final class DefaultVirtualTime implements VirtualTime, SmartInitializingSingleton {

	/** How many bodies {@link #runAll()} runs at most. */
	static final int MAX_RUNS = 20_000;

	/** How often {@link #runAll()} moves the time at most. */
	private static final int MAX_STEPS = 1_000_000;

	private static final int NANOS_PER_MILLI = 1_000_000;

	private final VirtualClock clock;

	private final InjectedFaults faults;

	private final Supplier<VirtualParts> parts;

	private final PendingTasks pending;

	private final TestTimers timers;

	private final TaskNames names;

	/** The thread of the test method whose turn it is holds this lock. */
	private final ReentrantLock turn = new ReentrantLock();

	private volatile OnFailure onFailure = OnFailure.THROW;

	/** The ids of the repeating tasks of the application itself. */
	private @Nullable Set<String> repeatingFromTheStart;

	/** Whether the application itself has paused its node. */
	private boolean pausedFromTheStart;

	DefaultVirtualTime(VirtualClock clock, InjectedFaults faults, TestTimers timers, Supplier<VirtualParts> parts) {
		this.clock = clock;
		this.faults = faults;
		this.timers = timers;
		this.parts = parts;
		this.pending = new PendingTasks(parts);
		this.names = new TaskNames(parts, faults);
	}

	/**
	 * Fails the start if the application cannot have virtual time.
	 */
	@Override
	public void afterSingletonsInstantiated() {
		Objects.requireNonNull(this.parts.get());
	}

	@Override
	public void advance(Duration by) {
		Objects.requireNonNull(by, "by");
		if (by.isNegative()) {
			throw new IllegalArgumentException(
					"The time cannot go back: the duration is %s, and must be zero or more".formatted(by));
		}
		move(by);
		throwFailures();
	}

	@Override
	public void advanceTo(Instant instant) {
		Objects.requireNonNull(instant, "instant");
		Instant now = now();
		if (instant.isBefore(now)) {
			throw new IllegalArgumentException(
					"The time cannot go back: it is %s already, after %s".formatted(now, instant));
		}
		advance(Duration.between(now, instant));
	}

	@Override
	public void runAll() {
		long limit = this.faults.runs() + MAX_RUNS;
		int steps = 0;
		rouseNode();
		this.clock.advance(Duration.ZERO);
		for (Duration step = nextStep(); step != null; step = nextStep()) {
			if (this.faults.runs() >= limit || ++steps > MAX_STEPS) {
				throw withFailures(new IllegalStateException(
						("The tasks do not come to an end: runAll has run %d of them up to %s, and"
								+ " %s. For tasks that schedule themselves again, use advance")
							.formatted(this.faults.runs() + MAX_RUNS - limit, now(),
									PendingTasks.describe(tasks(), now()))));
			}
			this.clock.advance(step);
		}
		checkStore();
		throwFailures();
	}

	/**
	 * The time to the next thing that may happen, {@code null} if only tasks with several
	 * runs are pending.
	 */
	private @Nullable Duration nextStep() {
		VirtualParts parts = this.parts.get();
		DurableParts durable = parts.durable();
		Duration nextTurn = (durable != null) ? durable.nextTurn() : null;
		boolean storedOnce = durable != null && nextTurn != null && durable.hasUnfinishedOnce();
		if (!parts.tasks().hasPendingOnce() && !storedOnce) {
			return null;
		}
		return Stream.of(parts.wheel().snapshot().nextExpiry(), nextTurn)
			.filter(Objects::nonNull)
			.min(Duration::compareTo)
			.orElse(null);
	}

	private void move(Duration by) {
		rouseNode();
		this.clock.advance(by);
		if (this.parts.get().durable() != null && now().getNano() % NANOS_PER_MILLI != 0) {
			// The store has milliseconds. The node may have rounded a delay up.
			rouseNode();
			this.clock.advance(Duration.ZERO);
		}
		checkStore();
	}

	/**
	 * Lets the node look at the store when the time is moved next.
	 */
	private void rouseNode() {
		DurableParts durable = this.parts.get().durable();
		if (durable != null) {
			durable.rouse();
		}
	}

	private void checkStore() {
		DurableParts durable = this.parts.get().durable();
		Throwable error = (durable != null) ? durable.storeError() : null;
		if (error != null) {
			throw withFailures(new IllegalStateException(
					"The store of the durable tasks does not answer, so they did not run", error));
		}
	}

	/**
	 * Adds the exceptions of bodies to an exception that takes their place.
	 */
	private IllegalStateException withFailures(IllegalStateException exception) {
		if (this.onFailure == OnFailure.THROW) {
			this.clock.takeFailures().forEach(exception::addSuppressed);
		}
		return exception;
	}

	private void throwFailures() {
		if (this.onFailure == OnFailure.COLLECT) {
			return;
		}
		List<Throwable> failures = this.clock.takeFailures();
		if (failures.isEmpty()) {
			return;
		}
		Throwable first = failures.get(0);
		failures.stream().skip(1).forEach(first::addSuppressed);
		if (first instanceof RuntimeException exception) {
			throw exception;
		}
		if (first instanceof Error error) {
			throw error;
		}
		throw new UndeclaredThrowableException(first, "The body of a task threw: " + first);
	}

	@Override
	public Instant now() {
		return this.clock.now();
	}

	@Override
	public Clock clock() {
		return this.clock.clock();
	}

	@Override
	public long pending(String name) {
		return tasks(name).size();
	}

	@Override
	public List<PendingTask> tasks(String name) {
		return this.pending.of(name);
	}

	@Override
	public List<PendingTask> tasks() {
		return this.pending.all();
	}

	@Override
	public void onFailure(OnFailure mode) {
		Objects.requireNonNull(mode, "mode");
		if (this.onFailure == OnFailure.COLLECT) {
			this.clock.keepFailures();
		}
		this.onFailure = mode;
	}

	@Override
	public List<Throwable> failures() {
		return this.clock.failures();
	}

	@Override
	public void deliverTwice(boolean twice) {
		checkDurable("deliverTwice");
		this.faults.deliverTwice(twice);
	}

	@Override
	public void crashBeforeAcknowledge(String name) {
		Objects.requireNonNull(name, "name");
		checkDurable("crashBeforeAcknowledge");
		this.faults.crashNext(this.names.check("crashBeforeAcknowledge", name, true));
	}

	private void checkDurable(String method) {
		if (this.parts.get().durable() == null) {
			throw new IllegalStateException(method + " is about durable tasks, but the application of this test has no"
					+ " store for them. Set timingwheel.store.type");
		}
	}

	@Override
	public void failNext(String name, Throwable exception) {
		Objects.requireNonNull(name, "name");
		Objects.requireNonNull(exception, "exception");
		this.faults.failNext(this.names.check("failNext", name, false), exception);
	}

	/**
	 * Begins the turn of a test method. Other methods that share this time wait.
	 * @throws IllegalStateException if the thread is interrupted while it waits
	 */
	void beginTurn() {
		// A turn of this thread that nobody has ended is over.
		endTurn();
		try {
			this.turn.lockInterruptibly();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(
					"Interrupted while another test method with the same application context was running", ex);
		}
	}

	/**
	 * Ends the turn of the test method that runs on this thread.
	 */
	void endTurn() {
		if (this.turn.isHeldByCurrentThread()) {
			this.turn.unlock();
		}
	}

	@Override
	public synchronized void reset() {
		this.clock.checkStandsStill("begin anew");
		DelayedTaskRegistry tasks = this.parts.get().tasks();
		DurableParts durable = this.parts.get().durable();
		Set<String> spared = this.repeatingFromTheStart;
		if (spared == null) {
			spared = tasks.repeating();
			this.repeatingFromTheStart = spared;
			this.pausedFromTheStart = durable != null && !durable.isClaiming();
		}
		this.names.fromTheStart();
		tasks.cancelAll(spared);
		tasks.resetLimits();
		if (durable != null) {
			durable.deleteAll();
		}
		this.faults.reset();
		this.onFailure = OnFailure.THROW;
		this.clock.reset();
		tasks.wallClockSet();
		this.timers.reset(this.parts.get().wheel());
		if (durable != null) {
			durable.beginAnew(!this.pausedFromTheStart);
		}
	}

	@Override
	public VirtualTimeAssert assertThat() {
		return new VirtualTimeAssert(this);
	}

	@Override
	public String toString() {
		return "VirtualTime[" + now() + "]";
	}

}
