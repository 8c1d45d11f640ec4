package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Two or three threads on one wheel, in every interleaving of their steps that two
 * preemptions at locks, volatile fields and atomics bring about, or one anywhere. One
 * more of each, in four minutes:
 *
 * <pre>
 * mvn verify -pl timingwheel-core -Dtest=RaceTests -Dtimingwheel.preemptions=1
 * </pre>
 */
@ExtendWith(WheelLog.class)
class RaceTests {

	private static final int MORE_PREEMPTIONS = Integer.getInteger("timingwheel.preemptions", 0);

	/**
	 * Read without the lock. Of a timer by one who then finds out under the lock, or by a
	 * compare-and-set, whether it still is what it was. Of the batch by who drives, while
	 * another stops the wheel: whatever it reads, its next look is at the stop.
	 */
	private static final String[] READ_AHEAD = { "Timer.shard", "Timer.task", "Batch.position", "Batch.size",
			"Batch.tick" };

	@ParameterizedTest
	@ValueSource(classes = { CancelAndFire.class, CancelAndRunDirectly.class, MoveToLaterAndFire.class,
			MoveToLaterAndRunDirectly.class, MoveToSoonerAndFire.class, MoveAndCancel.class, MoveAndMove.class,
			MoveAndMoveToLater.class, AddAndAdvance.class, TellBeforeAdding.class, AddAndStop.class, FireAndStop.class,
			CascadeAndCancel.class, CascadeAndMoveToSooner.class, CascadeAndMoveToLater.class, RefuseAndCancel.class,
			RefuseAndStop.class, RefuseAndRun.class, AddAndAddAtTheLimit.class, CancelAndAddAtTheLimit.class,
			PeriodicAndCancel.class, PeriodicAndShutdown.class, PeriodicAndShutdownNow.class, PeriodicAndStop.class,
			SubmitAndShutdown.class, SubmitAndShutdownNow.class, AddAndPark.class, InterruptAndPark.class,
			AddBeforeAFarTimerAndPark.class, MoveToSoonerAndPark.class, AddToAnotherShardAndPark.class,
			StopAndPark.class })
	void holdsInEveryInterleaving(Class<? extends Race> race, TestReporter reporter) {
		int atSynchronization = Interleavings.atSynchronization(race, 2 + MORE_PREEMPTIONS)
			.knowing(READ_AHEAD)
			.explore();
		int atEveryAccess = Interleavings.atEveryAccess(race, 1 + MORE_PREEMPTIONS).knowing(READ_AHEAD).explore();
		reporter.publishEntry(Map.of("race", race.getSimpleName(), "at synchronization",
				String.valueOf(atSynchronization), "at every access", String.valueOf(atEveryAccess)));
		assertThat(atSynchronization).isGreaterThan(1);
		assertThat(atEveryAccess).isGreaterThan(1);
	}

	/**
	 * Those of few steps.
	 */
	@ParameterizedTest
	@ValueSource(classes = { MoveAndMove.class, MoveAndMoveToLater.class, AddAndStop.class, CancelAndStop.class,
			MoveToSoonerAndStop.class, StopAndRun.class, StopAndCountAndRun.class, CancelAndAddAtTheLimit.class,
			AddAndPark.class, AddBeforeAFarTimerAndPark.class, MoveToSoonerAndPark.class,
			AddToAnotherShardAndPark.class, StopAndPark.class })
	void holdsWithTwoPreemptionsAnywhere(Class<? extends Race> race) {
		assertThat(Interleavings.atEveryAccess(race, 2).knowing(READ_AHEAD).explore()).isGreaterThan(1);
	}

	/**
	 * A wheel with levels of four slots, driven by a manual clock.
	 */
	private abstract static class OnAManualClock implements Race {

		final ManualTimeSource clock = new ManualTimeSource();

		final AtomicInteger runs = new AtomicInteger();

		volatile long ranAt = -1;

		final TimingWheel wheel = TimingWheel.builder(this::execute)
			.wheelSize(4)
			.shards(1)
			.timeSource(this.clock)
			.build();

		void execute(Runnable task) {
			task.run();
		}

		TimerHandle schedule(long millis) {
			return this.wheel.schedule(task(), millis, TimeUnit.MILLISECONDS);
		}

		Runnable task() {
			return () -> {
				this.runs.incrementAndGet();
				this.ranAt = now();
			};
		}

		long now() {
			return TimeUnit.NANOSECONDS.toMillis(this.clock.nanoTime());
		}

		void advance(long millis) {
			this.clock.advance(Duration.ofMillis(millis));
		}

		/**
		 * What was counted fits to what happened, and nothing is left behind.
		 */
		void assertEmptyAfter(int scheduled, int cancelled) {
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.pending()).isZero();
			assertThat(snapshot.scheduled()).isEqualTo(scheduled);
			assertThat(snapshot.cancelled()).isEqualTo(cancelled);
			assertThat(snapshot.levels()).allMatch((level) -> level.pending() == 0);
		}

	}

	/**
	 * One thread lets the time pass while another acts on a timer.
	 */
	private abstract static class OnATimer extends OnAManualClock {

		final TimerHandle neighbour;

		final TimerHandle timer;

		final TimerHandle otherNeighbour;

		private final long by;

		boolean done;

		OnATimer(long delay, long passed, long by) {
			this.neighbour = this.wheel.schedule(() -> {
			}, delay, TimeUnit.MILLISECONDS);
			this.timer = schedule(delay);
			this.otherNeighbour = this.wheel.schedule(() -> {
			}, delay, TimeUnit.MILLISECONDS);
			this.by = by;
			advance(passed);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(this.by), () -> this.done = act());
		}

		abstract boolean act();

	}

	private static class CancelAndFire extends OnATimer {

		CancelAndFire() {
			this(1, 0, 1);
		}

		CancelAndFire(long delay, long passed, long by) {
			super(delay, passed, by);
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			advance(100);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertThat(this.timer.isCancelled()).isEqualTo(this.done);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	/**
	 * The slot of level 2 that begins at 32 cascades through level 1.
	 */
	private static final class CascadeAndCancel extends CancelAndFire {

		CascadeAndCancel() {
			super(37, 31, 2);
		}

	}

	private abstract static class MoveAndFire extends OnATimer {

		private final long newDelay;

		/** Neither side knows better than up to a change of the clock. */
		private long earliest;

		MoveAndFire(long delay, long passed, long by, long newDelay) {
			super(delay, passed, by);
			this.newDelay = newDelay;
		}

		@Override
		boolean act() {
			this.earliest = now() + this.newDelay;
			return this.timer.reschedule(this.newDelay, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			if (this.done) {
				if (this.runs.get() == 0) {
					advance(this.newDelay);
				}
				assertThat(this.ranAt).isGreaterThanOrEqualTo(this.earliest);
			}
			assertThat(this.runs).hasValue(1);
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(this.done ? 1 : 0);
			advance(100);
			assertThat(this.runs).hasValue(1);
			assertEmptyAfter(3, 0);
		}

	}

	private static final class MoveToLaterAndFire extends MoveAndFire {

		MoveToLaterAndFire() {
			super(1, 0, 1, 3);
		}

	}

	/**
	 * A task that is not handed over.
	 */
	private static final class MoveToLaterAndRunDirectly extends MoveAndFire {

		MoveToLaterAndRunDirectly() {
			super(1, 0, 1, 3);
		}

		@Override
		Runnable task() {
			return (DirectTask) super.task()::run;
		}

	}

	private static final class CancelAndRunDirectly extends CancelAndFire {

		@Override
		Runnable task() {
			return (DirectTask) super.task()::run;
		}

	}

	private static final class MoveToSoonerAndFire extends MoveAndFire {

		MoveToSoonerAndFire() {
			super(3, 0, 3, 1);
		}

	}

	private static final class CascadeAndMoveToSooner extends MoveAndFire {

		CascadeAndMoveToSooner() {
			super(37, 31, 6, 3);
		}

	}

	private static final class CascadeAndMoveToLater extends MoveAndFire {

		CascadeAndMoveToLater() {
			super(37, 31, 6, 20);
		}

	}

	private static final class MoveAndCancel extends OnATimer {

		private boolean sooner;

		private boolean later;

		private boolean afterCancel;

		MoveAndCancel() {
			super(3, 0, 3);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				this.done = act();
				this.afterCancel = this.done && this.timer.reschedule(1, TimeUnit.MILLISECONDS);
			}, () -> {
				this.sooner = this.timer.reschedule(1, TimeUnit.MILLISECONDS);
				this.later = this.timer.reschedule(5, TimeUnit.MILLISECONDS);
			}, () -> advance(3));
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			assertThat(this.afterCancel).isFalse();
			advance(100);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo((this.sooner ? 1 : 0) + (this.later ? 1 : 0));
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	/**
	 * The one who moved last decides. Here that is not known, so either may.
	 */
	private static final class MoveAndMove extends OnATimer {

		MoveAndMove() {
			super(17, 0, 0);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.timer.reschedule(3, TimeUnit.MILLISECONDS));
		}

		@Override
		boolean act() {
			return this.timer.reschedule(6, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			assertThat(this.done).isTrue();
			assertThat(this.wheel.snapshot().rescheduled()).isEqualTo(2);
			long remaining = this.timer.remaining(TimeUnit.MILLISECONDS);
			assertThat(remaining).isIn(3L, 6L);
			advance(remaining);
			assertThat(this.ranAt).isEqualTo(remaining);
			advance(100);
			assertThat(this.runs).hasValue(1);
			assertEmptyAfter(3, 0);
		}

	}

	/**
	 * Both without the lock; one with it if it comes second.
	 */
	private static final class MoveAndMoveToLater extends OnATimer {

		private boolean other;

		MoveAndMoveToLater() {
			super(1, 0, 0);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.other = this.timer.reschedule(6, TimeUnit.MILLISECONDS));
		}

		@Override
		boolean act() {
			return this.timer.reschedule(3, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			assertThat(this.done).isTrue();
			assertThat(this.other).isTrue();
			long remaining = this.timer.remaining(TimeUnit.MILLISECONDS);
			assertThat(remaining).isIn(3L, 6L);
			advance(remaining);
			assertThat(this.ranAt).isEqualTo(remaining);
		}

	}

	private static final class AddAndAdvance extends OnAManualClock {

		private final List<String> order = new ArrayList<>();

		AddAndAdvance() {
			this.wheel.schedule(() -> add("first"), 5, TimeUnit.MILLISECONDS);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(5), () -> {
				long deadline = now() + 5;
				this.wheel.schedule(() -> {
					assertThat(now()).isGreaterThanOrEqualTo(deadline);
					add("second");
				}, 5, TimeUnit.MILLISECONDS);
				this.wheel.schedule(() -> add("now"), 0, TimeUnit.MILLISECONDS);
			});
		}

		private synchronized void add(String name) {
			this.order.add(name);
		}

		@Override
		public void verify() {
			advance(0);
			assertThat(this.order).contains("now", "first");
			advance(5);
			assertThat(this.order).containsExactlyInAnyOrder("first", "second", "now")
				.containsSubsequence("first", "second");
			assertEmptyAfter(3, 0);
		}

	}

	/**
	 * What happened before a timer was added its task sees, without a lock of its own.
	 */
	private static final class TellBeforeAdding extends OnAManualClock {

		private String told;

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), () -> {
				this.told = "told";
				this.wheel.schedule(() -> {
					assertThat(this.told).isEqualTo("told");
					this.runs.incrementAndGet();
				}, 0, TimeUnit.MILLISECONDS);
			});
		}

		@Override
		public void verify() {
			advance(0);
			assertThat(this.runs).hasValue(1);
		}

	}

	private static final class AddAndStop extends OnAManualClock {

		private TimerHandle added;

		private List<Runnable> returned;

		AddAndStop() {
			schedule(1);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				try {
					this.added = schedule(2);
				}
				catch (RejectedExecutionException ex) {
					this.added = null;
				}
			}, () -> this.returned = this.wheel.stop());
		}

		@Override
		public void verify() {
			assertThat(this.returned).hasSize((this.added != null) ? 2 : 1);
			assertThat(this.added == null || !this.added.isPending()).isTrue();
			advance(100);
			assertThat(this.runs).hasValue(0);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	/**
	 * Another thread ends or moves a timer whose neighbours the stop takes out.
	 */
	private static class CancelAndStop extends OnATimer {

		List<Runnable> returned;

		CancelAndStop() {
			super(37, 0, 0);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> this.done = act(), () -> this.returned = this.wheel.stop());
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			assertThat(this.returned).hasSize(this.done ? 2 : 3);
			advance(100);
			assertThat(this.runs).hasValue(0);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	private static final class MoveToSoonerAndStop extends CancelAndStop {

		@Override
		boolean act() {
			this.timer.reschedule(1, TimeUnit.MILLISECONDS);
			return false;
		}

	}

	private static class FireAndStop extends OnAManualClock {

		private List<Runnable> returned;

		private int runsAtStop;

		FireAndStop() {
			schedule(1);
			schedule(1);
			schedule(2);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), () -> {
				this.returned = this.wheel.stop();
				this.runsAtStop = this.runs.get();
			});
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.returned.size() + this.runs.get()).isEqualTo(3);
			assertThat(this.runs).as("none runs after stop").hasValue(this.runsAtStop);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	/**
	 * The first hand-over of each timer is refused.
	 */
	private static final class RefuseAndStop extends FireAndStop {

		private int refused;

		@Override
		void execute(Runnable task) {
			if (this.refused < 2) {
				this.refused++;
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

	}

	private static final class RefuseAndCancel extends OnATimer {

		private int refused;

		RefuseAndCancel() {
			super(1, 0, 1);
		}

		@Override
		void execute(Runnable task) {
			if (this.refused < 3) {
				this.refused++;
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

		@Override
		boolean act() {
			return this.timer.cancel();
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.runs).hasValue(this.done ? 0 : 1);
			assertEmptyAfter(3, this.done ? 1 : 0);
		}

	}

	/**
	 * The executor keeps the task, which another thread runs, and throws.
	 */
	private static class RefuseAndRun extends OnAManualClock {

		final TimerHandle timer = schedule(1);

		private final AtomicReference<Runnable> kept = new AtomicReference<>();

		@Override
		void execute(Runnable task) {
			if (this.kept.compareAndSet(null, task)) {
				throw new RejectedExecutionException("on purpose");
			}
			task.run();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), () -> {
				Runnable task = this.kept.get();
				if (task != null) {
					task.run();
				}
			});
		}

		@Override
		public void verify() {
			assertThat(this.timer.isPending()).as("unless it ran").isEqualTo(this.runs.get() == 0);
			advance(5_000);
			assertThat(this.runs).hasValue(1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class RefuseAndRunAndCancel extends RefuseAndRun {

		private boolean cancelled;

		@Override
		public List<Runnable> threads() {
			List<Runnable> threads = new ArrayList<>(super.threads());
			threads.add(() -> this.cancelled = this.timer.cancel());
			return threads;
		}

		@Override
		public void verify() {
			advance(5_000);
			assertThat(this.runs).hasValue(this.cancelled ? 0 : 1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	/**
	 * The executor gives the task to another thread, which runs it, and stops the wheel.
	 */
	private static class StopAndRun extends OnAManualClock {

		private final AtomicReference<Runnable> given = new AtomicReference<>();

		private List<Runnable> returned;

		StopAndRun() {
			schedule(1);
		}

		@Override
		void execute(Runnable task) {
			this.given.set(task);
			this.returned = this.wheel.stop();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(1), this::run);
		}

		void run() {
			Runnable task = this.given.get();
			if (task != null) {
				task.run();
			}
		}

		@Override
		public void verify() {
			assertThat(this.returned.size() + this.runs.get()).isLessThanOrEqualTo(1);
			this.given.get().run();
			assertThat(this.returned.size() + this.runs.get()).isEqualTo(1);
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class StopAndCountAndRun extends StopAndRun {

		@Override
		void run() {
			assertThat(this.wheel.pending()).isBetween(0L, 1L);
			super.run();
		}

	}

	private abstract static class AtTheLimit implements Race {

		final TimingWheel wheel;

		final List<TimerHandle> handles = new ArrayList<>();

		final AtomicInteger accepted = new AtomicInteger();

		final AtomicInteger refused = new AtomicInteger();

		AtTheLimit(int limit, int pending) {
			this.wheel = TimingWheel.builder(Runnable::run)
				.wheelSize(4)
				.shards(2)
				.maxPending(limit)
				.timeSource(new ManualTimeSource())
				.build();
			for (int i = 0; i < pending; i++) {
				this.handles.add(schedule());
			}
		}

		TimerHandle schedule() {
			try {
				TimerHandle handle = this.wheel.schedule(() -> {
				}, 1, TimeUnit.MILLISECONDS);
				this.accepted.incrementAndGet();
				return handle;
			}
			catch (RejectedExecutionException ex) {
				this.refused.incrementAndGet();
				return null;
			}
		}

	}

	private static final class AddAndAddAtTheLimit extends AtTheLimit {

		private long pending;

		AddAndAddAtTheLimit() {
			super(2, 1);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(this::schedule, this::schedule, () -> this.pending = this.wheel.pending());
		}

		@Override
		public void verify() {
			assertThat(this.accepted).hasValue(2);
			assertThat(this.refused).hasValue(1);
			assertThat(this.pending).isBetween(1L, 2L);
			assertThat(this.wheel.pending()).isEqualTo(2);
			assertThat(this.wheel.snapshot().refused()).isEqualTo(1);
		}

	}

	/**
	 * Each gives one back before it takes one, so there is always room.
	 */
	private static final class CancelAndAddAtTheLimit extends AtTheLimit {

		CancelAndAddAtTheLimit() {
			super(2, 2);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> replace(0), () -> replace(1));
		}

		private void replace(int index) {
			this.handles.get(index).cancel();
			schedule();
		}

		@Override
		public void verify() {
			assertThat(this.refused).hasValue(0);
			assertThat(this.accepted).hasValue(4);
			assertThat(this.wheel.pending()).isEqualTo(2);
		}

	}

	/**
	 * One thread lets the time pass while another ends a service's task.
	 */
	private abstract static class OnAService extends OnAManualClock {

		final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

		ScheduledFuture<?> future;

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), this::act);
		}

		abstract void act();

		void schedulePeriodic() {
			this.future = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 1, 1, TimeUnit.MILLISECONDS);
		}

		void assertEnded() {
			assertThat(this.wheel.pending()).as("freed at once").isZero();
			int runs = this.runs.get();
			advance(100);
			assertThat(this.runs).hasValue(runs);
			assertThat(this.wheel.pending()).isZero();
			this.service.shutdown();
			assertThat(this.service.isTerminated()).isTrue();
		}

	}

	private static final class PeriodicAndCancel extends OnAService {

		PeriodicAndCancel() {
			schedulePeriodic();
		}

		@Override
		void act() {
			assertThat(this.future.cancel(false)).isTrue();
		}

		@Override
		public void verify() {
			assertThat(this.future.isCancelled()).isTrue();
			assertEnded();
		}

	}

	private static final class PeriodicAndShutdown extends OnAService {

		PeriodicAndShutdown() {
			schedulePeriodic();
		}

		@Override
		void act() {
			this.service.shutdown();
		}

		@Override
		public void verify() {
			assertThat(this.future.isCancelled()).isTrue();
			assertEnded();
		}

	}

	private static final class PeriodicAndShutdownNow extends OnAService {

		private List<Runnable> withdrawn;

		PeriodicAndShutdownNow() {
			schedulePeriodic();
		}

		@Override
		void act() {
			this.withdrawn = this.service.shutdownNow();
		}

		@Override
		public void verify() {
			assertThat(this.future.isDone()).isEqualTo(this.withdrawn.isEmpty());
			assertEnded();
		}

	}

	private static final class PeriodicAndStop extends OnAService {

		private List<Runnable> returned;

		PeriodicAndStop() {
			schedulePeriodic();
		}

		@Override
		void act() {
			this.returned = this.wheel.stop();
		}

		@Override
		public void verify() {
			assertThat(this.future.isDone()).isEqualTo(this.returned.isEmpty());
			assertEnded();
		}

	}

	private abstract static class Submit extends OnAService {

		boolean rejected;

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				try {
					this.future = this.service.schedule(this.runs::incrementAndGet, 0, TimeUnit.MILLISECONDS);
				}
				catch (RejectedExecutionException ex) {
					this.rejected = true;
				}
			}, this::act, () -> advance(0));
		}

	}

	private static final class SubmitAndShutdown extends Submit {

		@Override
		void act() {
			this.service.shutdown();
		}

		@Override
		public void verify() {
			advance(0);
			assertThat(this.runs).hasValue(this.rejected ? 0 : 1);
			assertEnded();
		}

	}

	private static final class SubmitAndShutdownNow extends Submit {

		private List<Runnable> withdrawn;

		@Override
		void act() {
			this.withdrawn = this.service.shutdownNow();
		}

		@Override
		public void verify() {
			advance(0);
			int outcomes = this.runs.get() + this.withdrawn.size() + (this.rejected ? 1 : 0)
					+ ((this.future != null && this.future.isCancelled()) ? 1 : 0);
			assertThat(outcomes).isOne();
			assertEnded();
		}

	}

	/**
	 * A wheel with a thread. Its tick is so long that time stands still, and what is due
	 * is due now.
	 */
	private abstract static class WithADriverThread implements Race {

		final AtomicInteger runs = new AtomicInteger();

		Runnable driver;

		final TimingWheel wheel;

		WithADriverThread(int shards) {
			this.wheel = TimingWheel.builder(Runnable::run)
				.tick(Duration.ofDays(1))
				.wheelSize(4)
				.shards(shards)
				.threadFactory((task) -> {
					this.driver = task;
					return new Thread(() -> {
					});
				})
				.build();
		}

		@Override
		public List<Runnable> threads() {
			return List.of(this.driver, this::act);
		}

		abstract void act();

		/**
		 * The last one ends the driver. If it does not run, the driver waits for ever.
		 */
		Runnable endAfter(int runs) {
			return () -> {
				if (this.runs.incrementAndGet() == runs) {
					this.wheel.stop();
				}
			};
		}

		void scheduleNow(Runnable task) {
			this.wheel.schedule(task, 0, TimeUnit.DAYS);
		}

		@Override
		public void verify() {
			assertThat(this.wheel.pending()).isZero();
		}

	}

	private static final class AddAndPark extends WithADriverThread {

		AddAndPark() {
			super(1);
		}

		@Override
		void act() {
			scheduleNow(endAfter(2));
			scheduleNow(endAfter(2));
		}

	}

	/**
	 * With the interrupt left as it is, the driver would never park again.
	 */
	private static final class InterruptAndPark extends WithADriverThread {

		InterruptAndPark() {
			super(1);
		}

		@Override
		void act() {
			scheduleNow(() -> {
				Thread.currentThread().interrupt();
				endAfter(2).run();
			});
			scheduleNow(endAfter(2));
		}

	}

	private static final class AddBeforeAFarTimerAndPark extends WithADriverThread {

		AddBeforeAFarTimerAndPark() {
			super(1);
			this.wheel.schedule(() -> {
			}, 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			scheduleNow(endAfter(1));
		}

	}

	private static final class MoveToSoonerAndPark extends WithADriverThread {

		private final TimerHandle far;

		MoveToSoonerAndPark() {
			super(1);
			this.far = this.wheel.schedule(endAfter(1), 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			this.far.reschedule(0, TimeUnit.DAYS);
		}

	}

	private static final class AddToAnotherShardAndPark extends WithADriverThread {

		AddToAnotherShardAndPark() {
			super(2);
			this.wheel.schedule(() -> {
			}, 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			scheduleNow(endAfter(1));
		}

	}

	private static final class StopAndPark extends WithADriverThread {

		StopAndPark() {
			super(1);
			this.wheel.schedule(() -> {
			}, 9, TimeUnit.DAYS);
		}

		@Override
		void act() {
			assertThat(this.wheel.stop()).hasSize(1);
		}

	}

}
