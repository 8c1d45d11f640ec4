package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

import io.timingwheel.interleaving.Interleavings;
import io.timingwheel.interleaving.Race;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static io.timingwheel.interleaving.Interleavings.race;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Races of the tasks of a {@link WheelScheduledExecutorService} with its shutdown, with
 * cancel, and with the stop of the wheel.
 */
@ExtendWith(WheelLog.class)
class ScheduledExecutorServiceRaceTests {

	static List<Arguments> holdsInEveryInterleaving() {
		return List.of(race(PeriodicAndEnd.class, End.CANCEL.name()), race(PeriodicAndEnd.class, End.SHUTDOWN.name()),
				race(PeriodicAndEnd.class, End.SHUTDOWN_NOW.name()), race(PeriodicAndEnd.class, End.STOP.name()),
				race(PeriodicAtOnceAndCancel.class), race(OneShotAndShutdownNow.class), race(SubmitAndShutdown.class),
				race(SubmitAndShutdownNow.class, 0),
				// The timer is not due, so a timer that stays in the wheel is found.
				race(SubmitAndShutdownNow.class, 1_000));
	}

	@ParameterizedTest
	@MethodSource
	void holdsInEveryInterleaving(Class<? extends Race> race, Object... arguments) {
		Interleavings.explore(race, arguments);
	}

	/**
	 * One thread advances the time, another ends a task of a service.
	 */
	private abstract static class OnAService extends ManualClockRace {

		final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

		ScheduledFuture<?> future;

		/** The tasks that {@code shutdownNow} or {@code stop} has returned. */
		List<Runnable> returned = List.of();

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), this::act);
		}

		abstract void act();

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

	private enum End {

		CANCEL, SHUTDOWN, SHUTDOWN_NOW, STOP

	}

	private static final class PeriodicAndEnd extends OnAService {

		private final End end;

		PeriodicAndEnd(String end) {
			this.end = End.valueOf(end);
			this.future = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 1, 1, TimeUnit.MILLISECONDS);
		}

		@Override
		void act() {
			switch (this.end) {
				case CANCEL -> assertThat(this.future.cancel(false)).isTrue();
				case SHUTDOWN -> this.service.shutdown();
				case SHUTDOWN_NOW -> this.returned = this.service.shutdownNow();
				case STOP -> this.returned = this.wheel.stop();
			}
		}

		@Override
		public void verify() {
			assertThat(this.future.isDone()).isEqualTo(this.returned.isEmpty());
			if (this.end == End.CANCEL || this.end == End.SHUTDOWN) {
				assertThat(this.future.isCancelled()).isTrue();
			}
			assertEnded();
		}

	}

	private static final class OneShotAndShutdownNow extends OnAService {

		OneShotAndShutdownNow() {
			this.future = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.MILLISECONDS);
		}

		@Override
		void act() {
			this.returned = this.service.shutdownNow();
		}

		@Override
		public void verify() {
			assertThat(this.runs.get() + this.returned.size()).as("run or returned").isOne();
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

	private static final class SubmitAndShutdownNow extends Submit {

		SubmitAndShutdownNow(long delay) {
			super(delay);
		}

		@Override
		void act() {
			this.returned = this.service.shutdownNow();
		}

		@Override
		public void verify() {
			advance(0);
			int outcomes = this.runs.get() + this.returned.size() + (this.rejected ? 1 : 0)
					+ ((this.future != null && this.future.isCancelled()) ? 1 : 0);
			assertThat(outcomes).isOne();
			assertEnded();
		}

	}

}
