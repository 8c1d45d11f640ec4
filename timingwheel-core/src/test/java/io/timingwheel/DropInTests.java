package io.timingwheel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.resilience4j.retry.Retry;
import io.github.resilience4j.retry.RetryConfig;
import io.github.resilience4j.timelimiter.TimeLimiter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Uses the wheel in libraries that take a {@link ScheduledExecutorService}. So does
 * {@link EnginePageTests}.
 */
class DropInTests {

	private static final Duration HOUR = Duration.ofHours(1);

	private final ExecutorService pool = Executors.newFixedThreadPool(2, (task) -> new Thread(task, "of-the-pool"));

	private final TimingWheel wheel = TimingWheel.builder(this.pool).build();

	private final ScheduledExecutorService service = this.wheel.asScheduledExecutorService();

	@AfterEach
	void stop() {
		this.wheel.close();
		this.pool.shutdownNow();
	}

	@Test
	void reactorDelaysElementsOnTheWheel() {
		Scheduler scheduler = Schedulers.fromExecutorService(this.service);
		long start = System.nanoTime();
		List<String> elements = Flux.just("a", "b", "c")
			.delayElements(Duration.ofMillis(20), scheduler)
			.map((element) -> element + Thread.currentThread().getName())
			.collectList()
			.block(Duration.ofSeconds(30));
		assertThat(elements).containsExactly("aof-the-pool", "bof-the-pool", "cof-the-pool");
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(60));
		awaitFired(3);
	}

	@Test
	void timeoutsThatHaveBecomeObsoleteFreeTheirTimers() throws Exception {
		Scheduler scheduler = Schedulers.fromExecutorService(this.service);
		assertThat(Mono.just("in time").timeout(HOUR, scheduler).block(Duration.ofSeconds(30))).isEqualTo("in time");
		CompletionStage<String> quick = TimeLimiter.of(HOUR)
			.executeCompletionStage(this.service, () -> CompletableFuture.completedFuture("in time"));
		assertThat(quick.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo("in time");
		await().until(() -> this.wheel.pending() == 0);
	}

	@Test
	void reactorRepeatsOnTheWheelUntilDisposed() {
		Scheduler scheduler = Schedulers.fromExecutorService(this.service);
		Queue<Long> ticks = new ConcurrentLinkedQueue<>();
		Disposable interval = Flux.interval(Duration.ofMillis(2), scheduler).subscribe(ticks::add);
		await().until(() -> ticks.size() >= 5);
		interval.dispose();
		await().until(() -> this.wheel.pending() == 0);
		assertThat(ticks).startsWith(0L, 1L, 2L, 3L, 4L);
	}

	@Test
	void disposingWhatReactorHasScheduledFreesItsTimersAtOnce() {
		Scheduler scheduler = Schedulers.fromExecutorService(this.service);
		List<Disposable> subscriptions = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			subscriptions.add(Mono.delay(HOUR, scheduler).subscribe());
			subscriptions.add(Flux.interval(HOUR, scheduler).subscribe());
			subscriptions.add(scheduler.schedule(() -> {
			}, 1, TimeUnit.HOURS));
		}
		assertThat(this.wheel.pending()).isEqualTo(300);
		subscriptions.forEach(Disposable::dispose);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void retryOfResilience4jWaitsOnTheWheel() throws Exception {
		Retry retry = Retry.of("orders",
				RetryConfig.custom().maxAttempts(4).waitDuration(Duration.ofMillis(10)).build());
		AtomicInteger attempts = new AtomicInteger();
		long start = System.nanoTime();
		CompletionStage<String> result = retry.executeCompletionStage(this.service,
				() -> (attempts.incrementAndGet() < 4) ? CompletableFuture.failedFuture(new IllegalStateException())
						: CompletableFuture.completedFuture("fourth"));
		assertThat(result.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo("fourth");
		assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(30));
		awaitFired(3);
		assertThat(this.wheel.snapshot().fired()).isEqualTo(3);
	}

	/**
	 * The wheel counts a task after the pool has accepted it, perhaps after the run.
	 */
	private void awaitFired(long count) {
		await().until(() -> this.wheel.snapshot().fired() >= count);
	}

}
