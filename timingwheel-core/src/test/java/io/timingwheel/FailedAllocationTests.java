package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

import io.timingwheel.TimerList.Chunk;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.timingwheel.probe.Allocations;
import io.timingwheel.probe.ProbingClassLoader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests that a call that finds no memory loses no timer and leaves the wheel intact. Each
 * scenario runs once for each allocation of the call, and this allocation fails.
 */
@ExtendWith(WheelLog.class)
class FailedAllocationTests {

	/** More timers than a chunk holds. */
	private static final int CROWD = 300;

	@ParameterizedTest
	@ValueSource(classes = { Schedule.class, MoveOfALoneTimer.class, MoveOutOfACrowd.class, MoveIntoASlot.class,
			CancelInACrowd.class, Submit.class, NextRun.class, Stop.class, StopInATask.class, StopInARetry.class,
			StopThatDoesNotWait.class })
	void nothingIsLost(Class<?> scenario) throws Exception {
		IntPredicate run = (IntPredicate) ProbingClassLoader.newInstance(scenario);
		int failures = 0;
		try {
			while (run.test(failures)) {
				failures++;
			}
		}
		catch (OutOfMemoryError ex) {
			// JUnit would end its JVM.
			throw new AssertionError("Another call has failed after " + failures + " allocations", ex);
		}
		finally {
			Allocations.succeed();
		}
		assertThat(failures).as("allocations that have failed").isPositive();
	}

	/**
	 * A wheel with one shard and a clock that the scenario moves.
	 */
	abstract static class Scenario implements IntPredicate {

		ManualTimeSource clock;

		TimingWheel wheel;

		final List<String> ran = new ArrayList<>();

		final List<Throwable> errors = new ArrayList<>();

		@Override
		public boolean test(int allocations) {
			this.ran.clear();
			this.clock = new ManualTimeSource();
			this.errors.clear();
			WheelBuilder builder = new WheelBuilder(this::execute);
			builder.stopWait = Duration.ZERO;
			this.wheel = builder.shards(1)
				.maxPending(2 * CROWD)
				.onError((task, ex) -> this.errors.add(ex))
				.timeSource(this.clock)
				.build();
			return run(allocations);
		}

		/**
		 * Runs with one allocation that fails.
		 * @return whether an allocation has failed
		 */
		abstract boolean run(int allocations);

		void execute(Runnable timer) {
			timer.run();
		}

		TimerHandle schedule(String name, Duration delay) {
			return this.wheel.schedule(() -> this.ran.add(name), delay);
		}

		void checkInvariants() {
			for (Shard shard : ((HierarchicalTimingWheel) this.wheel).shards) {
				new WheelInvariants(shard.wheel, (timer) -> true).check();
			}
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.levels().stream().mapToLong(WheelSnapshot.Level::pending).sum())
				.isEqualTo(snapshot.pending());
		}

		/**
		 * Moves a timer to 10 ms from now, and checks that the timer fires then, or an
		 * hour later as before if the move has failed.
		 */
		boolean move(TimerHandle moved, int allocations, int others) {
			boolean done = false;
			Allocations.failAfter(allocations);
			try {
				done = moved.reschedule(10, TimeUnit.MILLISECONDS);
			}
			catch (OutOfMemoryError ex) {
				assertThat(moved.remaining(TimeUnit.HOURS)).isOne();
			}
			boolean failed = Allocations.succeed();
			assertThat(done || failed).isTrue();
			checkInvariants();
			schedule("new", Duration.ofHours(1));
			checkInvariants();
			this.clock.advance(Duration.ofMillis(10));
			assertThat(this.ran.contains("moved")).isEqualTo(done);
			if (!done) {
				assertThat(moved.cancel()).isTrue();
				checkInvariants();
			}
			this.clock.advance(Duration.ofHours(1));
			assertThat(this.ran).contains("new").hasSize(others + 1 + (done ? 1 : 0));
			assertThat(this.wheel.pending()).isZero();
			return failed;
		}

	}

	static final class Schedule extends Scenario {

		@Override
		boolean run(int allocations) {
			schedule("other", Duration.ofHours(1));
			boolean done = true;
			Allocations.failAfter(allocations);
			try {
				schedule("scheduled", Duration.ofHours(1));
			}
			catch (OutOfMemoryError ex) {
				done = false;
			}
			boolean failed = Allocations.succeed();
			assertThat(done).isEqualTo(!failed);
			checkInvariants();
			this.clock.advance(Duration.ofHours(2));
			assertThat(this.ran).hasSize(done ? 2 : 1);
			return failed;
		}

	}

	static final class MoveOfALoneTimer extends Scenario {

		@Override
		boolean run(int allocations) {
			return move(schedule("moved", Duration.ofHours(1)), allocations, 0);
		}

	}

	/**
	 * The timers that stay are few enough for their chunk to be packed.
	 */
	static final class MoveOutOfACrowd extends Scenario {

		@Override
		boolean run(int allocations) {
			int stay = 64;
			List<TimerHandle> crowd = new ArrayList<>();
			for (int i = 0; i < Chunk.CAPACITY; i++) {
				crowd.add(schedule((i == 0) ? "moved" : "other", Duration.ofHours(1)));
			}
			crowd.subList(stay + 1, crowd.size()).forEach(TimerHandle::cancel);
			return move(crowd.get(0), allocations, stay);
		}

	}

	static final class MoveIntoASlot extends Scenario {

		@Override
		boolean run(int allocations) {
			schedule("other", Duration.ofMillis(10));
			return move(schedule("moved", Duration.ofHours(1)), allocations, 1);
		}

	}

	static final class CancelInACrowd extends Scenario {

		@Override
		boolean run(int allocations) {
			List<TimerHandle> crowd = new ArrayList<>();
			for (int i = 0; i < CROWD; i++) {
				crowd.add(schedule("ran", Duration.ofHours(1)));
			}
			Allocations.failAfter(allocations);
			for (TimerHandle handle : crowd.subList(1, CROWD)) {
				assertThat(handle.cancel()).isTrue();
			}
			boolean failed = Allocations.succeed();
			checkInvariants();
			this.clock.advance(Duration.ofHours(1));
			assertThat(this.ran).hasSize(1);
			return failed;
		}

	}

	/**
	 * A task of a service that the wheel does not accept.
	 */
	static final class Submit extends Scenario {

		@Override
		boolean run(int allocations) {
			ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
			boolean done = true;
			Allocations.failAfter(allocations);
			try {
				service.schedule(() -> this.ran.add("submitted"), 1, TimeUnit.HOURS);
			}
			catch (OutOfMemoryError ex) {
				done = false;
			}
			boolean failed = Allocations.succeed();
			assertThat(done).isEqualTo(!failed);
			checkInvariants();
			service.shutdown();
			this.clock.advance(Duration.ofHours(1));
			assertThat(this.ran).hasSize(done ? 1 : 0);
			assertThat(service.isTerminated()).isTrue();
			return failed;
		}

	}

	/**
	 * A run of a periodic task that cannot schedule its next run.
	 */
	static final class NextRun extends Scenario {

		@Override
		boolean run(int allocations) {
			ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
			Future<?> task = service.scheduleWithFixedDelay(() -> {
				if (this.ran.isEmpty()) {
					Allocations.failAfter(allocations);
				}
				this.ran.add("ran");
			}, 1, TimeUnit.HOURS.toMillis(1), TimeUnit.MILLISECONDS);
			this.clock.advance(Duration.ofMillis(1));
			boolean failed = Allocations.succeed();
			checkInvariants();
			if (task.isDone()) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get)
					.withCauseInstanceOf(OutOfMemoryError.class);
				assertThat(this.errors).hasOnlyElementsOfType(OutOfMemoryError.class).hasSize(1);
				assertThat(this.wheel.pending()).isZero();
			}
			else {
				assertThat(this.wheel.pending()).isOne();
				this.clock.advance(Duration.ofHours(1));
				assertThat(this.ran).hasSize(2);
			}
			service.shutdown();
			assertThat(service.isTerminated()).isTrue();
			return failed;
		}

	}

	/**
	 * A call of {@code stop} that fails, and another call.
	 */
	abstract static class StopScenario extends Scenario {

		private final List<Runnable> returned = new ArrayList<>();

		private boolean failed;

		private boolean thrown;

		@Override
		final boolean run(int allocations) {
			this.returned.clear();
			this.thrown = false;
			int timers = scheduleAndStop(allocations);
			assertThat(this.thrown).isEqualTo(this.failed);
			assertThat(this.wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.STOPPED);
			this.returned.addAll(this.wheel.stop());
			assertThat(this.wheel.stop()).isEmpty();
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.returned()).isEqualTo(this.returned.size());
			assertThat(snapshot.cancelled()).isZero();
			assertThat(snapshot.pending()).isZero();
			this.returned.forEach(Runnable::run);
			assertThat(this.ran).as("tasks that have run or were returned").hasSize(timers).doesNotHaveDuplicates();
			return this.failed;
		}

		/**
		 * Schedules timers, and calls {@link #stop}.
		 * @return the number of timers
		 */
		abstract int scheduleAndStop(int allocations);

		/**
		 * Schedules timers with different names.
		 */
		List<TimerHandle> schedule(int count, String name, Duration delay) {
			List<TimerHandle> handles = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				handles.add(schedule(name + i, delay));
			}
			return handles;
		}

		void stop(int allocations) {
			Allocations.failAfter(allocations);
			try {
				this.returned.addAll(this.wheel.stop());
			}
			catch (OutOfMemoryError ex) {
				this.thrown = true;
			}
			finally {
				this.failed = Allocations.succeed();
			}
		}

	}

	static final class Stop extends StopScenario {

		@Override
		void execute(Runnable timer) {
			throw new RejectedExecutionException("on purpose");
		}

		@Override
		int scheduleAndStop(int allocations) {
			schedule(30, "crowd", Duration.ofHours(1));
			schedule("alone", Duration.ofMinutes(1));
			schedule("waiting", Duration.ZERO);
			this.clock.advance(Duration.ZERO);
			stop(allocations);
			return 32;
		}

	}

	/**
	 * A task on the driver's thread calls {@code stop}, and the driver has more timers in
	 * hand than the list of the tasks has places at first.
	 */
	static final class StopInATask extends StopScenario {

		@Override
		int scheduleAndStop(int allocations) {
			this.wheel.schedule(() -> {
				this.ran.add("stopping");
				stop(allocations);
			}, Duration.ZERO);
			schedule(15, "in hand", Duration.ZERO);
			schedule(15, "later", Duration.ofHours(1));
			this.clock.advance(Duration.ZERO);
			return 31;
		}

	}

	/**
	 * The executor calls {@code stop} while the driver tries again what the executor has
	 * refused, and then refuses the others.
	 */
	static final class StopInARetry extends StopScenario {

		private Runnable stopping;

		@Override
		void execute(Runnable timer) {
			Runnable stopping = this.stopping;
			if (stopping != null) {
				this.stopping = null;
				stopping.run();
			}
			throw new RejectedExecutionException("on purpose");
		}

		@Override
		int scheduleAndStop(int allocations) {
			schedule(15, "waiting", Duration.ZERO);
			schedule(15, "later", Duration.ofHours(1));
			this.clock.advance(Duration.ZERO);
			this.stopping = () -> stop(allocations);
			this.clock.advance(Duration.ofMillis(5));
			assertThat(this.stopping).as("called in a retry").isNull();
			return 30;
		}

	}

	/**
	 * The executor blocks until {@code stop} has given up to wait. The driver then goes
	 * on with its batch: some timers were moved, and the executor refuses the others.
	 */
	static final class StopThatDoesNotWait extends StopScenario {

		private Runnable blocking;

		@Override
		void execute(Runnable timer) {
			Runnable blocking = this.blocking;
			if (blocking == null) {
				throw new RejectedExecutionException("on purpose");
			}
			this.blocking = null;
			blocking.run();
			timer.run();
		}

		@Override
		int scheduleAndStop(int allocations) {
			schedule("in execute", Duration.ZERO);
			List<TimerHandle> refused = schedule(8, "refused", Duration.ZERO);
			List<TimerHandle> moved = schedule(8, "moved", Duration.ZERO);
			schedule(15, "later", Duration.ofHours(1));
			this.blocking = () -> {
				moved.forEach((timer) -> timer.reschedule(1, TimeUnit.DAYS));
				Thread stopping = new Thread(() -> stop(allocations));
				stopping.start();
				Latches.join(stopping);
			};
			this.clock.advance(Duration.ZERO);
			assertThat(this.blocking).as("called by the driver").isNull();
			return 1 + refused.size() + moved.size() + 15;
		}

	}

}
