package io.timingwheel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeoutException;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.github.benmanes.caffeine.cache.Scheduler;
import io.github.resilience4j.timelimiter.TimeLimiter;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The code of {@code docs/engine.md}. */
class EnginePageTests {

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private final List<String> log = new CopyOnWriteArrayList<>();

	@AfterEach
	void stop() {
		this.executor.shutdownNow();
	}

	private void close() {
		this.log.add("closed");
	}

	@Test
	void aTimerIsMovedAndCancelled() {
		// tag::timer[]
		// The executor runs the tasks.
		TimingWheel wheel = TimingWheel.builder(this.executor).build();
		TimerHandle timeout = wheel.schedule(this::close, Duration.ofSeconds(30));
		// A packet has arrived.
		timeout.reschedule(Duration.ofSeconds(30));
		timeout.cancel();
		// end::timer[]
		assertThat(timeout.isCancelled()).isTrue();
		wheel.close();
	}

	@Test
	void librariesTakeTheWheel() {
		TimingWheel wheel = TimingWheel.builder(this.executor).build();
		Mono<String> call = Mono.never();
		// tag::libraries[]
		ScheduledExecutorService scheduler = wheel.asScheduledExecutorService();

		// Reactor
		Mono<String> reply = call.timeout(Duration.ofMillis(20), Schedulers.fromExecutorService(scheduler));

		// Caffeine: the listener is called at the expiry, not at the next access
		Cache<String, String> sessions = Caffeine.newBuilder()
			.expireAfterWrite(Duration.ofMillis(20))
			.scheduler(Scheduler.forScheduledExecutorService(scheduler))
			.removalListener((key, value, cause) -> this.log.add("ended " + key))
			.build();

		// Resilience4j
		CompletionStage<String> limited = TimeLimiter.of(Duration.ofMillis(20))
			.executeCompletionStage(scheduler, CompletableFuture::new);
		// end::libraries[]
		sessions.put("ann", "session");
		assertThatExceptionOfType(RuntimeException.class).isThrownBy(reply::block)
			.withCauseInstanceOf(TimeoutException.class);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> limited.toCompletableFuture().join())
			.withCauseInstanceOf(TimeoutException.class);
		await().until(() -> this.log.contains("ended ann"));
		wheel.close();
	}

	@Test
	void aLoopReadsTheClockOnceForManyTimers() {
		ManualTimeSource time = new ManualTimeSource();
		TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(time).build();
		long idleNanos = Duration.ofSeconds(30).toNanos();
		// tag::deadlines[]
		long now = wheel.nanoTime(); // once per turn
		TimerHandle timeout = wheel.scheduleAt(this::close, now + idleNanos);
		timeout.rescheduleAt(now + idleNanos); // for each of thousands of connections
		// end::deadlines[]
		time.advance(Duration.ofNanos(idleNanos - 1));
		assertThat(this.log).isEmpty();
		time.advance(Duration.ofMillis(1));
		assertThat(this.log).containsExactly("closed");
		wheel.close();
	}

}
