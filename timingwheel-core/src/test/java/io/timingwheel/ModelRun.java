package io.timingwheel;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.timingwheel.internal.PendingTimers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Performs random operations on a wheel with a manual clock, and the same operations on a
 * {@link ReferenceWheel}. Each difference is a failure. So is each violation of the
 * {@link WheelInvariants}, which are checked after each operation.
 */
final class ModelRun {

	/** The clock is not moved past 146 years. */
	private static final long END_OF_TIME = 1L << 62;

	/** One for all refusals, since a stack trace takes long. */
	private static final RejectedExecutionException REFUSAL = new RejectedExecutionException("at random");

	/** For how long an executor may refuse everything, in nanoseconds. */
	private static final long MAX_DEAD = TimeUnit.SECONDS.toNanos(10);

	private static final int MAX_FINISHED = 64;

	private static final int MAX_LOG = 40;

	/** More timers than a wheel fires or cascades in one step. */
	private static final int MAX_BURST = 1_500;

	/** The wheel's executor, two executors of tasks, and tasks that name no executor. */
	private static final int GROUPS = 4;

	static final int UNNAMED = 3;

	private final Config config;

	private final SplittableRandom random;

	private final ManualTimeSource clock;

	private final TimingWheel wheel;

	private final long start;

	private final long tickNanos;

	private final ReferenceWheel reference;

	private final List<WheelInvariants> invariants = new ArrayList<>();

	/**
	 * The other threads that schedule, one at a time. The wheel selects the shard by the
	 * thread.
	 */
	private final List<ExecutorService> callers = new ArrayList<>();

	private final List<ReferenceTimer> pending = new ArrayList<>();

	private final Deque<ReferenceTimer> finished = new ArrayDeque<>();

	private final Set<Throwable> thrownByTasks = new HashSet<>();

	private final List<Throwable> failures = new ArrayList<>();

	private final Deque<LogEntry> log = new ArrayDeque<>();

	/** By group, how many of four hand-overs the executor refuses. */
	private final int[] refusing = new int[GROUPS];

	/** The executors of the groups from 1 on. */
	private final List<Executor> executors = List.of(new ModelExecutor(), new ModelExecutor());

	private int nextId;

	/** How many tasks run. Such a task counts as pending until its executor returns. */
	private int running;

	ModelRun(Config config) {
		this.config = config;
		this.random = new SplittableRandom(config.seed());
		this.clock = new ManualTimeSource(config.clockOrigin());
		this.clock.advance(Duration.ofNanos(config.clockOffset()));
		this.start = this.clock.nanoTime();
		this.wheel = TimingWheel.builder(new ModelExecutor())
			.tick(config.tick())
			.wheelSize(config.wheelSize())
			.shards(config.shards())
			.maxPending(config.limit())
			.timeSource(this.clock)
			.onError(this::onError)
			.build();
		this.tickNanos = config.tick().toNanos();
		this.reference = new ReferenceWheel(this.tickNanos, config.shards(), GROUPS);
		for (int i = 1; i < config.callers(); i++) {
			this.callers.add(Executors.newSingleThreadExecutor());
		}
		for (Shard shard : ((HierarchicalTimingWheel) this.wheel).shards) {
			this.invariants.add(new WheelInvariants(shard.wheel, ModelRun::wasMoved));
		}
	}

	void run(int steps) {
		try {
			for (int i = 0; i < steps; i++) {
				step();
				checkCounters();
				if (i % 8 == 0) {
					this.invariants.forEach(WheelInvariants::check);
				}
				if (i % 64 == 0) {
					checkSnapshot();
					checkVisitor();
				}
				checkFailures();
			}
			finish();
		}
		catch (Throwable ex) {
			throw new AssertionError(
					"The wheel differs from the reference with " + this.config + ". The last operations:\n  "
							+ this.log.stream().map(LogEntry::toString).collect(Collectors.joining("\n  ")),
					ex);
		}
		finally {
			this.callers.forEach(ExecutorService::shutdownNow);
		}
	}

	private void step() {
		if (this.random.nextInt(64) == 0) {
			this.refusing[this.random.nextInt(GROUPS)] = this.random.nextInt(5);
		}
		int dice = this.random.nextInt(100);
		if (dice < 18) {
			advance(chooseAdvance());
		}
		else {
			operate();
		}
	}

	private void operate() {
		int dice = this.random.nextInt(100);
		if (dice < 40) {
			int count = (this.random.nextInt(256) == 0) ? this.random.nextInt(MAX_BURST) : 1;
			schedule(count, this.random.nextInt(this.config.callers()), chooseDelay());
		}
		else if (dice < 56) {
			cancel(chooseTimer());
		}
		else if (dice < 90) {
			reschedule(chooseTimer());
		}
		else {
			query(chooseTimer());
		}
	}

	private void schedule(int count, int caller, RandomDelay delay) {
		List<ReferenceTimer> timers = new ArrayList<>(count);
		for (int i = 0; i < count; i++) {
			ReferenceTimer timer = new ReferenceTimer(this.nextId++, caller);
			timer.task = chooseTask(timer);
			timers.add(timer);
		}
		Runnable calls = () -> timers.forEach((timer) -> timer.handle = scheduleOne(timer.task, delay));
		if (caller == 0) {
			calls.run();
		}
		else {
			CompletableFuture.runAsync(calls, this.callers.get(caller - 1)).orTimeout(60, TimeUnit.SECONDS).join();
		}
		for (ReferenceTimer timer : timers) {
			if (timer.handle == null) {
				assertThat(this.reference.pending() + this.running).as("pending at a rejection")
					.isGreaterThanOrEqualTo(this.config.limit());
				this.reference.rejected++;
				continue;
			}
			assertThat(this.reference.pending()).as("pending before %s", timer).isLessThan(this.config.limit());
			this.reference.schedule(timer, delay);
			timer.position = this.pending.size();
			this.pending.add(timer);
			log("schedule %s by caller %s: %s", timer, caller, delay);
			query(timer);
		}
	}

	/**
	 * Schedules a task.
	 * @return the handle, null if the limit is reached
	 */
	private TimerHandle scheduleOne(Runnable task, RandomDelay delay) {
		try {
			return delay.schedule(this.wheel, task);
		}
		catch (RejectedExecutionException ex) {
			return null;
		}
	}

	private void cancel(ReferenceTimer timer) {
		if (timer == null) {
			return;
		}
		boolean cancelled = timer.handle.cancel();
		log("cancel %s: %s", timer, cancelled);
		checkAnswer(timer, cancelled, "cancel");
		if (cancelled) {
			this.reference.cancel(timer);
			finished(timer);
			query(timer);
		}
	}

	private void reschedule(ReferenceTimer timer) {
		if (timer == null) {
			return;
		}
		RandomDelay delay = chooseDelay();
		boolean moved = delay.reschedule(this.wheel, timer.handle);
		log("reschedule %s to %s: %s", timer, delay, moved);
		checkAnswer(timer, moved, "reschedule");
		if (moved) {
			this.reference.reschedule(timer, delay);
			query(timer);
		}
	}

	private void query(ReferenceTimer timer) {
		if (timer == null) {
			return;
		}
		checkAnswer(timer, timer.handle.isPending(), "isPending");
		assertThat(timer.handle.isCancelled()).as("isCancelled of %s", timer)
			.isEqualTo(timer.state == ReferenceTimer.State.CANCELLED);
		this.reference.checkRemaining(timer, timer.handle.remaining(TimeUnit.NANOSECONDS));
	}

	private void checkAnswer(ReferenceTimer timer, boolean answer, String method) {
		assertThat(answer).as("%s of %s", method, timer).isEqualTo(timer.state == ReferenceTimer.State.PENDING);
	}

	private void advance(long by) {
		if (by > MAX_DEAD) {
			endDeadExecutors();
		}
		long target = this.reference.now() + by;
		log("advance by %s to %s", by, target);
		this.clock.advance(Duration.ofNanos(by));
		checkFailures();
		assertThat(this.thrownByTasks).as("exceptions that did not reach onError").isEmpty();
		assertThat(this.clock.nanoTime() - this.start).as("time after advance").isEqualTo(target);
		this.reference.advanceTo(target);
	}

	/**
	 * An executor that accepts nothing is tried twice a second, which takes too long for
	 * years.
	 */
	private void endDeadExecutors() {
		for (int group = 0; group < GROUPS; group++) {
			this.refusing[group] = Math.min(this.refusing[group], 2);
		}
	}

	private void ran(ReferenceTimer timer) {
		this.running = 1;
		try {
			log("  run %s at %s", timer, elapsed());
			this.reference.fire(timer, elapsed());
			finished(timer);
			query(timer);
			if (this.random.nextInt(16) == 0) {
				this.invariants.forEach(WheelInvariants::check);
				checkCounters();
			}
			if (this.random.nextInt(64) == 0) {
				checkVisitor();
			}
			if (this.random.nextInt(4) == 0) {
				for (int i = this.random.nextInt(1, 4); i > 0; i--) {
					operate();
				}
			}
		}
		catch (Throwable ex) {
			this.failures.add(ex);
		}
		this.running = 0;
		if (this.random.nextInt(32) == 0) {
			throwFromTask(timer);
		}
	}

	private void throwFromTask(ReferenceTimer timer) {
		if (this.random.nextBoolean()) {
			RuntimeException exception = new RejectedExecutionException("thrown by " + timer.id);
			this.thrownByTasks.add(exception);
			throw exception;
		}
		Error error = new StackOverflowError("thrown by " + timer.id);
		this.thrownByTasks.add(error);
		throw error;
	}

	private void onError(Runnable task, Throwable thrown) {
		boolean own = this.thrownByTasks.remove(thrown);
		if (!own || !(task instanceof ModelTask modelTask)
				|| !thrown.getMessage().equals("thrown by " + modelTask.timer().id)) {
			this.failures.add(new AssertionError("onError was called with " + task, thrown));
		}
	}

	private void mayRefuse(ReferenceTimer timer) {
		if (this.random.nextInt(4) >= this.refusing[timer.group]) {
			return;
		}
		try {
			log("  refuse %s at %s", timer, elapsed());
			this.reference.refuse(timer, elapsed());
		}
		catch (Throwable ex) {
			this.failures.add(ex);
		}
		throw REFUSAL;
	}

	private void finish() {
		checkSnapshot();
		if (this.random.nextBoolean()) {
			stop();
		}
		else {
			drain();
		}
	}

	private void stop() {
		Set<Runnable> expected = Collections.newSetFromMap(new IdentityHashMap<>());
		this.pending.forEach((timer) -> expected.add(timer.task));
		List<Runnable> returned = this.wheel.stop();
		assertThat(returned).as("tasks returned by stop").hasSameSizeAs(expected).allMatch(expected::remove);
		assertThat(this.wheel.stop()).as("tasks returned by the second stop").isEmpty();
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.wheel.snapshot().returned()).isEqualTo(returned.size());
		this.reference.returned(returned.size());
		checkCounters();
		for (ReferenceTimer timer : this.pending) {
			assertThat(timer.handle.isPending()).isFalse();
			assertThat(timer.handle.isCancelled()).isFalse();
			assertThat(timer.handle.remaining(TimeUnit.NANOSECONDS)).isZero();
			assertThat(timer.handle.reschedule(1, TimeUnit.DAYS)).isFalse();
			assertThat(timer.handle.rescheduleAt(this.wheel.nanoTime())).isFalse();
			assertThat(timer.handle.cancel()).isFalse();
		}
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> chooseDelay().schedule(this.wheel, () -> {
			}));
		this.clock.advance(Duration.ofDays(1));
		checkFailures();
	}

	private void drain() {
		Arrays.fill(this.refusing, 0);
		while (this.reference.nextExpiry() < END_OF_TIME) {
			advance(Math.max(0, this.reference.nextExpiry() - this.reference.now()));
		}
		advance(TimeUnit.DAYS.toNanos(1));
		assertThat(this.reference.waiting()).as("waiting timers a day later").isZero();
		((PendingTimers) this.wheel).forEachPending((task, handle) -> cancel(((ModelTask) task).timer()));
		assertThat(this.wheel.pending()).isZero();
		checkSnapshot();
		this.wheel.close();
	}

	private void checkCounters() {
		WheelSnapshot snapshot = this.wheel.snapshot();
		long stillPending = snapshot.pending() - this.reference.pending();
		assertThat(stillPending).as("pending beyond the reference").isBetween(0L, (long) this.running);
		assertThat(this.wheel.pending()).as("pending()").isEqualTo(snapshot.pending());
		assertThat(List.of(snapshot.scheduled(), snapshot.rescheduled(), snapshot.fired(), snapshot.cancelled(),
				snapshot.returned(), snapshot.rejected(), snapshot.refused()))
			.as("scheduled, rescheduled, fired, cancelled, returned, rejected, refused")
			.isEqualTo(List.of(this.reference.scheduled, this.reference.rescheduled,
					this.reference.fired - stillPending, this.reference.cancelled, this.reference.returned,
					this.reference.rejected, this.reference.refused));
	}

	private void checkVisitor() {
		Set<ReferenceTimer> visited = new HashSet<>();
		((PendingTimers) this.wheel).forEachPending((task, handle) -> {
			ReferenceTimer timer = ((ModelTask) task).timer();
			if (timer.handle != handle || !visited.add(timer)) {
				throw new AssertionError(timer + " is visited twice, or with another handle");
			}
		});
		// AssertJ would compare large lists in milliseconds.
		assertThat(visited.size() == this.pending.size() && visited.containsAll(this.pending)).isTrue();
	}

	private void checkSnapshot() {
		WheelSnapshot snapshot = this.wheel.snapshot();
		assertThat(snapshot.state()).isEqualTo(WheelSnapshot.State.RUNNING);
		long inSlots = this.reference.pending() - this.reference.waiting();
		// A timer that was moved while it waited goes to a slot at its turn.
		long moved = this.pending.stream().filter((timer) -> timer.refused && !timer.waiting).count();
		assertThat(snapshot.levels().stream().mapToLong(WheelSnapshot.Level::pending).sum()).as("pending of all levels")
			.isBetween(inSlots - moved, inSlots);
		if (this.reference.pending() == 0) {
			assertThat(snapshot.nextExpiry()).as("nextExpiry").isNull();
		}
		else if (moved == 0) {
			long next = Math.max(0, this.reference.nextExpiry() - this.reference.now());
			assertThat(snapshot.nextExpiry()).as("nextExpiry").isLessThanOrEqualTo(Duration.ofNanos(next));
		}
	}

	private void checkFailures() {
		if (!this.failures.isEmpty()) {
			throw new AssertionError("Failure in a task", this.failures.get(0));
		}
	}

	private void finished(ReferenceTimer timer) {
		ReferenceTimer last = this.pending.remove(this.pending.size() - 1);
		if (last != timer) {
			last.position = timer.position;
			this.pending.set(last.position, last);
		}
		this.finished.addLast(timer);
		if (this.finished.size() > MAX_FINISHED) {
			this.finished.removeFirst();
		}
	}

	private ReferenceTimer chooseTimer() {
		if (this.pending.isEmpty() || this.random.nextInt(16) == 0) {
			return this.finished.peekLast();
		}
		return this.pending.get(this.random.nextInt(this.pending.size()));
	}

	private RandomDelay chooseDelay() {
		return RandomDelay.choose(this.random, this.reference.now(), this.tickNanos, this.config.wheelSize());
	}

	private Runnable chooseTask(ReferenceTimer timer) {
		timer.group = this.random.nextInt(-1, GROUPS);
		return switch (timer.group) {
			case -1 -> new ModelDirectTask(this, timer);
			case 0 -> new ModelTask.Plain(this, timer);
			case UNNAMED -> new ModelUnnamedTask(this, timer);
			default -> new ModelRoutedTask(this, timer);
		};
	}

	private long chooseAdvance() {
		long next = this.reference.nextExpiry() - this.reference.now();
		long by = switch (this.random.nextInt(10)) {
			case 0 -> 0;
			case 1, 2 -> this.random.nextLong(2 * this.tickNanos);
			case 3 -> Math.max(0, next);
			case 4 -> Math.max(0, next - 1);
			case 5 -> RandomDelay.upToPowerOfTwo(this.random, 57);
			default -> RandomDelay.upToPowerOfTwo(this.random, 42);
		};
		return (by < END_OF_TIME - this.reference.now()) ? by : 0;
	}

	/**
	 * Whether a timer was moved or refused, so that its slot need not contain its due
	 * tick.
	 */
	private static boolean wasMoved(Timer timer) {
		return timer.task() instanceof ModelTask task && task.timer().moved;
	}

	private long elapsed() {
		return this.clock.nanoTime() - this.start;
	}

	private void log(String format, Object... arguments) {
		for (int i = 0; i < arguments.length; i++) {
			if (arguments[i] instanceof ReferenceTimer) {
				// The timer will change.
				arguments[i] = arguments[i].toString();
			}
		}
		this.log.addLast(new LogEntry(format, arguments));
		if (this.log.size() > MAX_LOG) {
			this.log.removeFirst();
		}
	}

	/**
	 * The settings of a run. The same settings give the same run.
	 *
	 * @param clockOffset how far the clock has advanced when the wheel is built, in
	 * nanoseconds
	 */
	record Config(long seed, Duration tick, int wheelSize, int shards, long limit, int callers, long clockOrigin,
			long clockOffset) {

	}

	/** An operation. Most entries are dropped before anybody needs their text. */
	private record LogEntry(String format, Object[] arguments) {

		@Override
		public String toString() {
			return String.format(this.format, this.arguments);
		}

	}

	/** A task whose timer the run knows. */
	private interface ModelTask extends Runnable {

		ModelRun modelRun();

		ReferenceTimer timer();

		@Override
		default void run() {
			modelRun().ran(timer());
		}

		record Plain(ModelRun modelRun, ReferenceTimer timer) implements ModelTask {

		}

	}

	private record ModelDirectTask(ModelRun modelRun, ReferenceTimer timer) implements ModelTask, DirectTask {

	}

	private record ModelRoutedTask(ModelRun modelRun, ReferenceTimer timer) implements ModelTask, RoutedTask {

		@Override
		public Executor executor() {
			return this.modelRun.executors.get(this.timer.group - 1);
		}

	}

	private record ModelUnnamedTask(ModelRun modelRun, ReferenceTimer timer) implements ModelTask, RoutedTask {

		@Override
		public Executor executor() {
			this.modelRun.mayRefuse(this.timer);
			return Runnable::run;
		}

	}

	/** An executor that may refuse a task. */
	private final class ModelExecutor implements Executor {

		@Override
		public void execute(Runnable timer) {
			if (((Timer) timer).task() instanceof ModelTask task) {
				mayRefuse(task.timer());
			}
			timer.run();
		}

	}

}
