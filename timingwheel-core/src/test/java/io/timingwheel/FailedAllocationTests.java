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

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.timingwheel.interleaving.Hooks;
import io.timingwheel.interleaving.InstrumentingClassLoader;

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
	void nothingIsLost(Call call) {
		IntPredicate instrumented = (IntPredicate) InstrumentingClassLoader.instrumented(Call.class)
			.getEnumConstants()[call.ordinal()];
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
			Hooks.observeNothing();
		}
		assertThat(failures).as("allocations that have failed").isPositive();
	}

	/** Scenarios with a call, of which one allocation fails. */
	enum Call implements IntPredicate {

		SCHEDULE(Scenario::schedule), MOVE(Scenario::move), CANCEL_IN_A_CROWD(Scenario::cancelInACrowd),
		SUBMIT(Scenario::submit), NEXT_RUN(Scenario::nextRun), TURN(Scenario::turn), STOP(Scenario::stop);

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

	/** A wheel with one shard and a clock that the scenario moves. */
	private static final class Scenario {

		private final ManualTimeSource clock = new ManualTimeSource();

		private final List<String> ran = new ArrayList<>();

		private final List<Throwable> errors = new ArrayList<>();

		private final List<Runnable> returned = new ArrayList<>();

		private final TimingWheel wheel;

		private final int allocations;

		private final int locksBefore = Hooks.locksHeld();

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
			Hooks.observe(() -> {
				if (this.left-- == 0) {
					throw new OutOfMemoryError("on purpose");
				}
			}, null);
		}

		private void letAllSucceed() {
			Hooks.observeNothing();
			this.failed = this.left < 0;
			assertThat(Hooks.locksHeld()).as("locks").isEqualTo(this.locksBefore);
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

		/**
		 * A timer that moves to the slot of another one must fire there, or as before if
		 * the move has failed.
		 */
		private void move() {
			schedule("other", Duration.ofMillis(10));
			TimerHandle moved = schedule("moved", HOUR);
			boolean done = call(() -> moved.reschedule(10, TimeUnit.MILLISECONDS));
			assertThat(done).isEqualTo(!this.failed);
			assertThat(moved.remaining(TimeUnit.MILLISECONDS)).isEqualTo(done ? 10 : HOUR.toMillis());
			checkInvariants();
			this.clock.advance(Duration.ofMillis(10));
			assertThat(this.ran.contains("moved")).isEqualTo(done);
			this.clock.advance(HOUR);
			assertThat(this.ran).containsExactlyInAnyOrder("other", "moved");
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

		/** A task of a service that the wheel does not accept. */
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

		/** A run of a periodic task that cannot schedule its next run. */
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
		 * The driver cascades timers, hands them over to an executor that refuses some,
		 * one of them until others are due, and goes on after the failure.
		 */
		private void turn() {
			List<Runnable> refused = new ArrayList<>();
			this.executor = (timer) -> {
				if (refused.size() < 5 || (refused.size() < 10 && timer == refused.get(0))) {
					refused.add(timer);
					throw new RejectedExecutionException("on purpose");
				}
				timer.run();
			};
			for (int i = 0; i < CROWD; i++) {
				schedule("timer " + i, HOUR.plusMillis(100 + i));
			}
			schedule(15, "at once ", HOUR);
			call(() -> this.clock.advance(HOUR.plusMillis(2 * CROWD)));
			checkInvariants();
			this.clock.advance(HOUR.plusMillis(2 * CROWD));
			assertThat(this.ran).hasSize(CROWD + 15).doesNotHaveDuplicates();
			assertThat(this.wheel.snapshot().fired()).isEqualTo(CROWD + 15);
		}

		private void stop() {
			this.executor = (timer) -> {
				throw new RejectedExecutionException("on purpose");
			};
			schedule(30, "crowd ", HOUR);
			schedule("alone", Duration.ofMinutes(1));
			schedule("waiting", Duration.ZERO);
			this.clock.advance(Duration.ZERO);
			boolean done = call(() -> this.returned.addAll(this.wheel.stop()));
			assertThat(done).isEqualTo(!this.failed);
			assertThat(this.wheel.snapshot().state()).isEqualTo(WheelSnapshot.State.STOPPED);
			this.returned.addAll(this.wheel.stop());
			assertThat(this.wheel.stop()).isEmpty();
			WheelSnapshot snapshot = this.wheel.snapshot();
			assertThat(snapshot.returned()).isEqualTo(this.returned.size());
			assertThat(snapshot.cancelled()).isZero();
			assertThat(snapshot.pending()).isZero();
			this.returned.forEach(Runnable::run);
			assertThat(this.ran).hasSize(32).doesNotHaveDuplicates();
		}

	}

}
