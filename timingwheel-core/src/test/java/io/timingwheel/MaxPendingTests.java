package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the limit of pending timers. {@link WheelModelTests} also has wheels with a
 * limit.
 */
@ExtendWith(WheelLog.class)
class MaxPendingTests {

	private static final int THREADS = 4;

	private final ManualTimeSource clock = new ManualTimeSource();

	private final RecordingTask task = new RecordingTask(this.clock);

	private final ExecutorService pool = Executors.newCachedThreadPool();

	@AfterEach
	void shutDown() {
		this.pool.shutdownNow();
	}

	@Test
	void rejectionNamesTheLimit() {
		TimingWheel wheel = wheel(1);
		assertThat(tryToSchedule(wheel)).isTrue();
		assertThatExceptionOfType(RejectedExecutionException.class)
			.isThrownBy(() -> wheel.schedule(this.task, 1, TimeUnit.HOURS))
			.withMessageContaining("limit of 1 ");
	}

	/** With a limit of 1, the second timer needs the permit of the first. */
	@Test
	void permitIsFreeAsSoonAsExecuteHasReturned() {
		List<Runnable> queue = new ArrayList<>();
		TimingWheel wheel = TimingWheel.builder(queue::add).maxPending(1).timeSource(this.clock).build();
		wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		wheel.schedule(this.task, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(queue).hasSize(2);
		assertThat(this.task.count()).isZero();
	}

	@Test
	void periodicTaskKeepsItsPermitWhileItRuns() {
		TimingWheel wheel = wheel(1);
		ScheduledExecutorService service = wheel.asScheduledExecutorService();
		List<Boolean> accepted = new ArrayList<>();
		ScheduledFuture<?> future = service.scheduleAtFixedRate(() -> accepted.add(tryToSchedule(wheel)), 1, 1,
				TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(3));
		assertThat(accepted).containsExactly(false, false, false);
		assertThat(future.isDone()).isFalse();
		assertThat(wheel.pending()).isOne();
		assertThat(future.cancel(false)).isTrue();
		assertThat(tryToSchedule(wheel)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void permitOfAPeriodicTaskThatTheExecutorHasDroppedIsFreeOnceTheTaskIsCancelled(boolean shutdownNow) {
		TimingWheel wheel = TimingWheel.builder((dropped) -> {
		}).maxPending(1).timeSource(this.clock).build();
		ScheduledExecutorService service = wheel.asScheduledExecutorService();
		ScheduledFuture<?> future = service.scheduleAtFixedRate(this.task, 1, 1, TimeUnit.MILLISECONDS);
		this.clock.advance(Duration.ofMillis(1));
		assertThat(wheel.pending()).isOne();
		if (shutdownNow) {
			service.shutdownNow();
		}
		else {
			future.cancel(false);
		}
		assertThat(wheel.pending()).isZero();
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 5, 1_000, 20_000 })
	void limitIsExactWithConcurrentAdders(int limit) throws Exception {
		TimingWheel wheel = wheel(limit);
		AtomicBoolean done = new AtomicBoolean();
		Future<Long> highest = this.pool.submit(() -> {
			long max = 0;
			while (!done.get()) {
				max = Math.max(max, wheel.pending());
			}
			return max;
		});
		Callable<Integer> adding = () -> {
			int count = 0;
			for (int i = 0; i < limit + 500; i++) {
				count += tryToSchedule(wheel) ? 1 : 0;
			}
			return count;
		};
		int sum = 0;
		for (Future<Integer> accepted : this.pool.invokeAll(Collections.nCopies(THREADS, adding))) {
			sum += accepted.get();
		}
		done.set(true);
		assertThat(sum).isEqualTo(limit);
		assertThat(wheel.pending()).isEqualTo(limit);
		assertThat(wheel.snapshot().rejected()).isEqualTo(THREADS * (limit + 500L) - limit);
		assertThat(highest.get(60, TimeUnit.SECONDS)).isLessThanOrEqualTo(limit);
	}

	private TimingWheel wheel(long limit) {
		return TimingWheel.builder(Runnable::run).shards(8).maxPending(limit).timeSource(this.clock).build();
	}

	private boolean tryToSchedule(TimingWheel wheel) {
		try {
			wheel.schedule(this.task, 1, TimeUnit.HOURS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
	}

}
