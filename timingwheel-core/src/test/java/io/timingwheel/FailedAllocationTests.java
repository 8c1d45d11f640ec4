package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

import io.timingwheel.TimerList.Chunk;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.timingwheel.probe.Probes;
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

	private static final Duration HOUR = Duration.ofHours(1);

	@ParameterizedTest
	@EnumSource
	void nothingIsLost(Call call) throws Exception {
		IntPredicate instrumented = (IntPredicate) ProbingClassLoader.instrumented(call);
		int failures = 0;
		try {
			while (instrumented.test(failures)) {
				failures++;
			}
		}
		catch (OutOfMemoryError ex) {
			// JUnit would end its JVM.
			throw new AssertionError("Another call has failed after " + failures + " allocations", ex);
		}
		finally {
			Probes.clear();
		}
		assertThat(failures).as("allocations that have failed").isPositive();
	}

	/**
	 * Scenarios with a call, of which one allocation fails.
	 */
	enum Call implements IntPredicate {

		SCHEDULE(Scenario::schedule), MOVE_OF_A_LONE_TIMER(Scenario::moveOfALoneTimer),
		MOVE_OUT_OF_A_CROWD(Scenario::moveOutOfACrowd), MOVE_INTO_A_SLOT(Scenario::moveIntoASlot),
		CANCEL_IN_A_CROWD(Scenario::cancelInACrowd), SUBMIT(Scenario::submit), NEXT_RUN(Scenario::nextRun),
		TURN(Scenario::turn), TURN_WITH_REFUSALS(Scenario::turnWithRefusals), STOP(Scenario::stop),
		STOP_IN_A_TASK(Scenario::stopInATask);

		private final Consumer<Scenario> scenario;

		Call(Consumer<Scenario> scenario) {
			this.scenario = scenario;
		}

		/**
		 * Runs the scenario.
		 * @param allocations how many allocations of the call succeed before one fails
		 * @return whether one has failed
		 */
		@Override
		public boolean test(int allocations) {
			Scenario run = new Scenario(allocations);
			this.scenario.accept(run);
			return run.failed;
		}

	}

	/**
	 * A wheel with one shard and a clock that the scenario moves.
	 */
	private static final class Scenario {

		private final ManualTimeSource clock = new ManualTimeSource();

		private final List<String> ran = new ArrayList<>();

		private final List<Throwable> errors = new ArrayList<>();

		private final List<Runnable> returned = new ArrayList<>();

		private final TimingWheel wheel;

		private final int allocations;

		/** How many allocations are left until one fails. */
		private int left;

		private Executor executor = Runnable::run;

		/** Whether an allocation has failed. */
		private boolean failed;

		Scenario(int allocations) {
			this.allocations = allocations;
			WheelBuilder builder = new WheelBuilder((timer) -> this.executor.execute(timer));
			builder.stopWait = Duration.ZERO;
			this.wheel = builder.shards(1)
				.maxPending(2 * CROWD)
				.onError((task, ex) -> this.errors.add(ex))
				.timeSource(this.clock)
				.build();
		}

		/**
		 * Calls with one allocation that fails.
		 * @return whether the call has returned normally
		 */
		private boolean call(Runnable call) {
			letOneFail();
			try {
				call.run();
				return true;
			}
			catch (OutOfMemoryError ex) {
				return false;
			}
			finally {
				letAllSucceed();
			}
		}

		private void letOneFail() {
			this.left = this.allocations;
			Probes.onAllocation(() -> {
				if (this.left-- == 0) {
					throw new OutOfMemoryError("on purpose");
				}
			});
		}

		private void letAllSucceed() {
			Probes.clear();
			this.failed = this.left < 0;
		}

		private TimerHandle schedule(String name, Duration delay) {
			return this.wheel.schedule(() -> this.ran.add(name), delay);
		}

		private List<TimerHandle> schedule(int count, String name, Duration delay) {
			List<TimerHandle> handles = new ArrayList<>();
			for (int i = 0; i < count; i++) {
				handles.add(schedule(name + i, delay));
			}
			return handles;
		}

		private void checkInvariants() {
			for (Shard shard : ((HierarchicalTimingWheel) this.wheel).shards) {
				new WheelInvariants(shard.wheel, (timer) -> true).check();
			}
		}

		private void schedule() {
			schedule("other", HOUR);
			boolean done = call(() -> schedule("scheduled", HOUR));
			assertThat(done).isEqualTo(!this.failed);
			checkInvariants();
			this.clock.advance(HOUR);
			assertThat(this.ran).hasSize(done ? 2 : 1);
		}

		private void moveOfALoneTimer() {
			move(schedule("moved", HOUR), 0);
		}

		/**
		 * The timers that stay are few enough for their chunk to be packed.
		 */
		private void moveOutOfACrowd() {
			int stay = 64;
			TimerHandle moved = schedule("moved", HOUR);
			List<TimerHandle> crowd = schedule(Chunk.CAPACITY - 1, "other", HOUR);
			crowd.subList(stay, crowd.size()).forEach(TimerHandle::cancel);
			move(moved, stay);
		}

		private void moveIntoASlot() {
			schedule("other", Duration.ofMillis(10));
			move(schedule("moved", HOUR), 1);
		}

		/**
		 * Moves a timer to 10 ms from now. It must fire then, or as before if the move
		 * has failed.
		 */
		private void move(TimerHandle moved, int others) {
			boolean done = call(() -> moved.reschedule(10, TimeUnit.MILLISECONDS));
			// A failure to pack a chunk is no failure of the move.
			assertThat(done || this.failed).isTrue();
			assertThat(moved.remaining(TimeUnit.MILLISECONDS)).isEqualTo(done ? 10 : HOUR.toMillis());
			checkInvariants();
			schedule("new", HOUR);
			checkInvariants();
			this.clock.advance(Duration.ofMillis(10));
			assertThat(this.ran.contains("moved")).isEqualTo(done);
			this.clock.advance(HOUR);
			assertThat(this.ran).contains("moved", "new").hasSize(others + 2);
			assertThat(this.wheel.pending()).isZero();
		}

		private void cancelInACrowd() {
			List<TimerHandle> crowd = schedule(CROWD, "ran", HOUR);
			assertThat(call(() -> {
				for (TimerHandle handle : crowd.subList(1, CROWD)) {
					assertThat(handle.cancel()).isTrue();
				}
			})).isTrue();
			checkInvariants();
			this.clock.advance(HOUR);
			assertThat(this.ran).hasSize(1);
		}

		/**
		 * A task of a service that the wheel does not accept.
		 */
		private void submit() {
			ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
			boolean done = call(() -> service.schedule(() -> this.ran.add("submitted"), 1, TimeUnit.HOURS));
			assertThat(done).isEqualTo(!this.failed);
			checkInvariants();
			service.shutdown();
			this.clock.advance(HOUR);
			assertThat(this.ran).hasSize(done ? 1 : 0);
			assertThat(service.isTerminated()).isTrue();
		}

		/**
		 * A run of a periodic task that cannot schedule its next run.
		 */
		private void nextRun() {
			ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
			Future<?> task = service.scheduleWithFixedDelay(() -> {
				if (this.ran.isEmpty()) {
					letOneFail();
				}
				this.ran.add("ran");
			}, 1, HOUR.toMillis(), TimeUnit.MILLISECONDS);
			this.clock.advance(Duration.ofMillis(1));
			letAllSucceed();
			checkInvariants();
			if (task.isDone()) {
				assertThatExceptionOfType(ExecutionException.class).isThrownBy(task::get)
					.withCauseInstanceOf(OutOfMemoryError.class);
				assertThat(this.errors).hasOnlyElementsOfType(OutOfMemoryError.class).hasSize(1);
				assertThat(this.wheel.pending()).isZero();
			}
			else {
				assertThat(this.wheel.pending()).isOne();
				this.clock.advance(HOUR);
				assertThat(this.ran).hasSize(2);
			}
			service.shutdown();
			assertThat(service.isTerminated()).isTrue();
		}

		/**
		 * The driver cascades timers, hands them over, and goes on after the failure.
		 */
		private void turn() {
			for (int i = 0; i < CROWD; i++) {
				schedule("timer " + i, HOUR.plusMillis(i));
			}
			schedule(15, "at once ", HOUR);
			call(() -> this.clock.advance(HOUR.plusMillis(CROWD)));
			checkInvariants();
			this.clock.advance(HOUR.plusMillis(CROWD));
			assertThat(this.ran).hasSize(CROWD + 15).doesNotHaveDuplicates();
			assertThat(this.wheel.snapshot().fired()).isEqualTo(CROWD + 15);
		}

		/**
		 * The executor refuses the first tasks.
		 */
		private void turnWithRefusals() {
			List<Runnable> refused = new ArrayList<>();
			this.executor = (timer) -> {
				if (refused.size() < 5) {
					refused.add(timer);
					throw new RejectedExecutionException("on purpose");
				}
				timer.run();
			};
			schedule(15, "refused ", Duration.ZERO);
			call(() -> this.clock.advance(Duration.ZERO));
			this.clock.advance(Duration.ofSeconds(10));
			assertThat(this.ran).hasSize(15).doesNotHaveDuplicates();
			assertThat(this.wheel.pending()).isZero();
		}

		private void stop() {
			this.executor = (timer) -> {
				throw new RejectedExecutionException("on purpose");
			};
			schedule(30, "crowd ", HOUR);
			schedule("alone", Duration.ofMinutes(1));
			schedule("waiting", Duration.ZERO);
			this.clock.advance(Duration.ZERO);
			stopOnce();
			stopAgain(32);
		}

		/**
		 * The driver has more timers in hand than the list of the tasks has places at
		 * first.
		 */
		private void stopInATask() {
			this.wheel.schedule(() -> {
				this.ran.add("stopping");
				stopOnce();
			}, Duration.ZERO);
			schedule(15, "in hand ", Duration.ZERO);
			schedule(15, "later ", HOUR);
			this.clock.advance(Duration.ZERO);
			stopAgain(31);
		}

		private void stopOnce() {
			boolean done = call(() -> this.returned.addAll(this.wheel.stop()));
			assertThat(done).isEqualTo(!this.failed);
		}

		/**
		 * Stops after a call that may have failed. Each task must have run or be
		 * returned.
		 */
		private void stopAgain(int timers) {
			assertThat(this.wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.STOPPED);
			this.returned.addAll(this.wheel.stop());
			assertThat(this.wheel.stop()).isEmpty();
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.returned()).isEqualTo(this.returned.size());
			assertThat(snapshot.cancelled()).isZero();
			assertThat(snapshot.pending()).isZero();
			this.returned.forEach(Runnable::run);
			assertThat(this.ran).as("tasks that have run or were returned").hasSize(timers).doesNotHaveDuplicates();
		}

	}

}
