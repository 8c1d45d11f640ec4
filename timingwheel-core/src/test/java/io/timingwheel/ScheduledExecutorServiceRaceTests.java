package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.TestReporter;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Races of the tasks of a {@link WheelScheduledExecutorService} with its shutdown, with
 * cancel, and with the stop of the wheel.
 */
@ExtendWith(WheelLog.class)
class ScheduledExecutorServiceRaceTests {

	@ParameterizedTest
	@ValueSource(classes = { PeriodicAndCancel.class, PeriodicAndShutdown.class, PeriodicAndShutdownNow.class,
			PeriodicAndStop.class, PeriodicAtOnceAndCancel.class, OneShotAndShutdownNow.class, SubmitAndShutdown.class,
			SubmitAndShutdownNow.class, SubmitForLaterAndShutdownNow.class })
	void holdsInEveryInterleaving(Class<? extends Race> race, TestReporter reporter) {
		RaceExploration.explore(race, reporter);
	}

	/**
	 * One thread advances the time, another ends a task of a service.
	 */
	private abstract static class OnAService extends ManualClockRace {

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

	private static final class OneShotAndShutdownNow extends OnAService {

		private List<Runnable> withdrawn;

		OneShotAndShutdownNow() {
			this.future = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.MILLISECONDS);
		}

		@Override
		void act() {
			this.withdrawn = this.service.shutdownNow();
		}

		@Override
		public void verify() {
			assertThat(this.runs.get() + this.withdrawn.size()).as("run or returned").isOne();
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

	/**
	 * The first run may end before the call that schedules the task returns.
	 */
	private static final class PeriodicAtOnceAndCancel extends OnAService {

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(0), this::act);
		}

		@Override
		void act() {
			this.future = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 0, 1, TimeUnit.DAYS);
			assertThat(this.future.cancel(false)).isTrue();
		}

		@Override
		public void verify() {
			assertEnded();
		}

	}

	private abstract static class Submit extends OnAService {

		private final long delay;

		boolean rejected;

		Submit(long delay) {
			this.delay = delay;
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> {
				try {
					this.future = this.service.schedule(this.runs::incrementAndGet, this.delay, TimeUnit.MILLISECONDS);
				}
				catch (RejectedExecutionException ex) {
					this.rejected = true;
				}
			}, this::act, () -> advance(0));
		}

	}

	private static final class SubmitAndShutdown extends Submit {

		SubmitAndShutdown() {
			super(0);
		}

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

	private static class SubmitAndShutdownNow extends Submit {

		private List<Runnable> withdrawn;

		SubmitAndShutdownNow() {
			this(0);
		}

		SubmitAndShutdownNow(long delay) {
			super(delay);
		}

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
	 * The timer is not due, so a timer that stays in the wheel is found.
	 */
	private static final class SubmitForLaterAndShutdownNow extends SubmitAndShutdownNow {

		SubmitForLaterAndShutdownNow() {
			super(1_000);
		}

	}

}
