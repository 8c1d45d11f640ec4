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
		return List.of(race(Periodic.class, "CANCEL"), race(Periodic.class, "SHUTDOWN"),
				race(Periodic.class, "SHUTDOWN_NOW"), race(Periodic.class, "STOP"), race(PeriodicAtOnce.class),
				race(OneShot.class), race(Submit.class, "SHUTDOWN", 0), race(Submit.class, "SHUTDOWN_NOW", 0),
				// The timer is not due, so a timer that stays in the wheel is found.
				race(Submit.class, "SHUTDOWN_NOW", 1_000));
	}

	@ParameterizedTest
	@MethodSource
	void holdsInEveryInterleaving(Class<? extends Race> race, Object... arguments) {
		Interleavings.explore(race, arguments);
	}

	private enum End {

		CANCEL, SHUTDOWN, SHUTDOWN_NOW, STOP

	}

	/** One thread advances the time, another ends a task of a service. */
	private abstract static class OnAService extends ManualClockRace {

		final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

		final End end;

		ScheduledFuture<?> future;

		/** The tasks that {@code shutdownNow} or {@code stop} has returned. */
		List<Runnable> returned = List.of();

		OnAService(String end) {
			this.end = End.valueOf(end);
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(2), this::act);
		}

		void act() {
			switch (this.end) {
				case CANCEL -> assertThat(this.future.cancel(false)).isTrue();
				case SHUTDOWN -> this.service.shutdown();
				case SHUTDOWN_NOW -> this.returned = this.service.shutdownNow();
				case STOP -> this.returned = this.wheel.stop();
			}
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

	private static final class Periodic extends OnAService {

		Periodic(String end) {
			super(end);
			this.future = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 1, 1, TimeUnit.MILLISECONDS);
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

	private static final class OneShot extends OnAService {

		OneShot() {
			super("SHUTDOWN_NOW");
			this.future = this.service.schedule(this.runs::incrementAndGet, 1, TimeUnit.MILLISECONDS);
		}

		@Override
		public void verify() {
			assertThat(this.runs.get() + this.returned.size()).as("run or returned").isOne();
			assertEnded();
		}

	}

	/** The first run may end before the call that schedules the task returns. */
	private static final class PeriodicAtOnce extends OnAService {

		PeriodicAtOnce() {
			super("CANCEL");
		}

		@Override
		public List<Runnable> threads() {
			return List.of(() -> advance(0), this::act);
		}

		@Override
		void act() {
			this.future = this.service.scheduleAtFixedRate(this.runs::incrementAndGet, 0, 1, TimeUnit.DAYS);
			super.act();
		}

		@Override
		public void verify() {
			assertEnded();
		}

	}

	private static final class Submit extends OnAService {

		private final long delay;

		private boolean rejected;

		Submit(String end, long delay) {
			super(end);
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

		@Override
		public void verify() {
			advance(0);
			boolean cancelled = this.future != null && this.future.isCancelled();
			assertThat(this.end == End.SHUTDOWN && cancelled).isFalse();
			assertThat(this.runs.get() + this.returned.size() + (this.rejected ? 1 : 0) + (cancelled ? 1 : 0)).isOne();
			assertEnded();
		}

	}

}
