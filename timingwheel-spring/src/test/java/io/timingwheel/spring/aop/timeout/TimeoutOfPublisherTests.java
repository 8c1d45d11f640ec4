package io.timingwheel.spring.aop.timeout;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

@org.junit.jupiter.api.Timeout(60)
class TimeoutOfPublisherTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final ExecutorService executor = Executors
		.newSingleThreadExecutor((task) -> new Thread(task, "completion"));

	private final Proxies proxies = new Proxies(this.wheel, this.executor);

	private final Service service = this.proxies.proxy(new Service());

	private final AtomicBoolean cancelled = new AtomicBoolean();

	@AfterEach
	void noTimerIsLeft() {
		assertThat(this.wheel.pending()).isZero();
		this.executor.shutdownNow();
	}

	@Test
	void aMonoFailsAtTheDeadlineOnTheExecutorAndItsSourceIsCancelled() {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		CompletableFuture<Object> result = this.service
			.mono(() -> Mono.never().doOnCancel(() -> this.cancelled.set(true)))
			.doOnError((ex) -> thread.complete(Thread.currentThread()))
			.toFuture();
		this.time.advance(LIMIT.minusNanos(1));
		assertThat(result).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		assertThat(thread.join().getName()).isEqualTo("completion");
		await().untilTrue(this.cancelled);
		await().untilAsserted(() -> assertThat(this.proxies.timeouts).hasSize(1));
	}

	@Test
	void aMonoInTimeCancelsTheTimer() {
		Sinks.One<String> source = Sinks.one();
		CompletableFuture<String> result = this.service.mono(source::asMono).toFuture();
		assertThat(this.wheel.pending()).isOne();
		source.tryEmitValue("in time");
		assertThat(result).isCompletedWithValue("in time");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aMonoThatIsEmptyOrFailsCancelsTheTimer() {
		assertThat(this.service.mono(Mono::empty).toFuture()).isCompletedWithValue(null);
		assertThat(this.service.mono(() -> Mono.error(new IllegalStateException())).toFuture())
			.isCompletedExceptionally();
	}

	@Test
	void theLimitOfAFluxLastsUntilItsCompletionAndNotBetweenItsElements() {
		Sinks.Many<Integer> source = Sinks.many().unicast().onBackpressureBuffer();
		List<Integer> received = new CopyOnWriteArrayList<>();
		CompletableFuture<?> result = this.service
			.flux(() -> source.asFlux().doOnCancel(() -> this.cancelled.set(true)))
			.doOnNext(received::add)
			.then()
			.toFuture();
		source.tryEmitNext(1);
		this.time.advance(LIMIT.dividedBy(2));
		source.tryEmitNext(2);
		assertThat(result).isNotDone();
		this.time.advance(LIMIT.dividedBy(2));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		await().untilTrue(this.cancelled);
		assertThat(received).containsExactly(1, 2);
	}

	@Test
	void aFluxInTimeCancelsTheTimer() {
		assertThat(this.service.flux(() -> Flux.just(1, 2)).collectList().block()).containsExactly(1, 2);
	}

	@Test
	void cancellingTheSubscriptionCancelsTheTimer() {
		Disposable subscription = this.service.mono(Mono::never).subscribe();
		assertThat(this.wheel.pending()).isOne();
		subscription.dispose();
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void eachSubscriptionHasItsOwnTimer() {
		Mono<Object> mono = this.service.mono(Mono::never);
		assertThat(this.wheel.pending()).isZero();
		this.time.advance(LIMIT);
		CompletableFuture<Object> first = mono.toFuture();
		this.time.advance(LIMIT.dividedBy(2));
		CompletableFuture<Object> second = mono.toFuture();
		this.time.advance(LIMIT.dividedBy(2));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(first::join);
		assertThat(second).isNotDone();
		second.cancel(true);
	}

	@Test
	void aCallThatBlocksBeforeItReturnsAPublisherThrows() {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.mono(() -> {
			this.time.advance(LIMIT);
			return Mono.just("late");
		}));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void aMonoReturnedAsAPublisherIsLimited() {
		CompletableFuture<Object> result = Mono.from(this.service.publisher(Mono::never)).toFuture();
		this.time.advance(LIMIT);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join);
	}

	static class Service {

		@Timeout("800ms")
		public <T> Mono<T> mono(Supplier<Mono<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> Flux<T> flux(Supplier<Flux<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> Publisher<T> publisher(Supplier<Publisher<T>> body) {
			return body.get();
		}

	}

}
