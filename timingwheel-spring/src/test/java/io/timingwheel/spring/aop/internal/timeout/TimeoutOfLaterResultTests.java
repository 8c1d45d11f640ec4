package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.Handles;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Futures and publishers of all shapes, in virtual time: in time, late, cancelled, and
 * with a fallback.
 */
@org.junit.jupiter.api.Timeout(60)
class TimeoutOfLaterResultTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final ExecutorService executor = Executors
		.newSingleThreadExecutor((task) -> new Thread(task, "completion"));

	private final Proxies proxies = new Proxies(this.wheel, this.executor);

	private final Service service = this.proxies.proxy(new Service());

	private final Fallbacks fallbacks = new Fallbacks();

	private final Fallbacks withFallback = this.proxies.proxy(this.fallbacks);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.wheel.pending()).isZero();
		this.executor.shutdownNow();
	}

	/**
	 * What a method declares, and how its result is read.
	 */
	enum Shape {

		FUTURE(Service::future, Fallbacks::future),

		STAGE((service, body) -> service.stage(body).toCompletableFuture(), Fallbacks::future),

		PLAIN_FUTURE(Service::plain, Fallbacks::plain),

		OBJECT((service, body) -> (Future<?>) service.object(body), Fallbacks::future),

		MONO((service, body) -> service.mono(body).toFuture(), (service, body) -> service.mono(body).toFuture()),

		FLUX((service, body) -> service.flux(body).next().toFuture(),
				(service, body) -> service.flux(body).next().toFuture()),

		PUBLISHER((service, body) -> Mono.from(service.publisher(body)).toFuture(),
				(service, body) -> service.mono(body).toFuture());

		private final BiFunction<Service, Supplier<Future<String>>, Future<?>> limited;

		private final BiFunction<Fallbacks, Supplier<Future<String>>, Future<?>> orFallback;

		Shape(BiFunction<Service, Supplier<Future<String>>, Future<?>> limited,
				BiFunction<Fallbacks, Supplier<Future<String>>, Future<?>> orFallback) {
			this.limited = limited;
			this.orFallback = orFallback;
		}

		Future<String> source() {
			return (this == PLAIN_FUTURE) ? new Settable() : new CompletableFuture<>();
		}

	}

	@ParameterizedTest
	@EnumSource
	void completesExceptionallyAtTheDeadlineAndCancelsTheSource(Shape shape) {
		Future<String> source = shape.source();
		Future<?> result = shape.limited.apply(this.service, () -> source);
		this.time.advance(LIMIT.minusNanos(1));
		assertThat(result.isDone()).isFalse();
		this.time.advance(Duration.ofNanos(1));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
			.havingCause()
			.isExactlyInstanceOf(MethodTimeoutException.class)
			.withMessageMatching(".*Service\\.\\w+ did not finish within 800ms")
			.withCauseExactlyInstanceOf(TimeoutException.class);
		assertThat(result.isDone()).isTrue();
		assertThat(result.isCancelled()).isFalse();
		await().until(source::isCancelled);
		await().untilAsserted(() -> assertThat(this.proxies.timeouts).hasSize(1));
	}

	@ParameterizedTest
	@EnumSource
	void aResultInTimeCancelsTheTimer(Shape shape) throws Exception {
		Future<String> source = shape.source();
		Future<?> result = shape.limited.apply(this.service, () -> source);
		assertThat(this.wheel.pending()).isOne();
		complete(source, "in time", null);
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("in time");
		assertThat(this.wheel.pending()).isZero();
		this.time.advance(LIMIT);
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aFailureInTimeReachesTheCallerAndCancelsTheTimer(Shape shape) {
		Future<String> source = shape.source();
		Future<?> result = shape.limited.apply(this.service, () -> source);
		IllegalStateException failure = new IllegalStateException();
		complete(source, null, failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
			.withCause(failure);
		assertThat(this.wheel.pending()).isZero();
	}

	@ParameterizedTest
	@EnumSource
	void cancellingTheResultCancelsTheTimerAndTheSource(Shape shape) {
		Future<String> source = shape.source();
		Future<?> result = shape.limited.apply(this.service, () -> source);
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.wheel.pending()).isZero();
		assertThat(source.isCancelled()).isTrue();
		assertThat(result.isCancelled()).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void aCallThatBlocksBeforeItReturnsThrows(Shape shape) {
		Future<String> source = shape.source();
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> shape.limited.apply(this.service, () -> {
				this.time.advance(LIMIT);
				return source;
			}));
		if (shape.ordinal() <= Shape.OBJECT.ordinal()) {
			assertThat(source.isCancelled()).isTrue();
		}
	}

	@ParameterizedTest
	@EnumSource
	void theResultFollowsThatOfTheFallback(Shape shape) throws Exception {
		Future<String> source = shape.source();
		Future<?> result = shape.orFallback.apply(this.withFallback, () -> source);
		this.time.advance(LIMIT);
		await().until(source::isCancelled);
		assertThat(result.isDone()).isFalse();
		assertThat(result.isCancelled()).isFalse();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> result.get(1, TimeUnit.MILLISECONDS));
		this.fallbacks.later.complete("later");
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("later");
		await().untilAsserted(() -> assertThat(this.proxies.timeouts).hasSize(1));
	}

	@ParameterizedTest
	@EnumSource
	void aFallbackThatThrowsFailsTheResultWithTheTimeoutSuppressed(Shape shape) {
		this.fallbacks.failure = new IllegalStateException("the fallback failed");
		Future<?> result = shape.orFallback.apply(this.withFallback, shape::source);
		this.time.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(60, TimeUnit.SECONDS))
			.havingCause()
			.isSameAs(this.fallbacks.failure)
			.satisfies((ex) -> assertThat(ex.getSuppressed()).hasAtLeastOneElementOfType(MethodTimeoutException.class));
	}

	@ParameterizedTest
	@EnumSource
	void cancellingTheResultCancelsThatOfTheFallback(Shape shape) {
		Future<?> result = shape.orFallback.apply(this.withFallback, shape::source);
		this.time.advance(LIMIT);
		await().untilTrue(this.fallbacks.called);
		await().until(() -> result.cancel(true) && this.fallbacks.later.isCancelled());
		assertThat(result.isCancelled()).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void theFallbackIsNotCalledInTime(Shape shape) throws Exception {
		Future<String> source = shape.source();
		Future<?> result = shape.orFallback.apply(this.withFallback, () -> source);
		complete(source, "in time", null);
		assertThat(result.get(60, TimeUnit.SECONDS)).isEqualTo("in time");
		assertThat(this.fallbacks.called).isFalse();
	}

	@Test
	void theDeadlineOfAFutureCountsFromTheCall() {
		CompletableFuture<String> result = this.service.future(() -> {
			this.time.advance(LIMIT.minusMillis(1));
			return new CompletableFuture<>();
		});
		assertThat(result).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get);
	}

	@Test
	void theDeadlineOfAPublisherCountsFromEachSubscription() {
		Flux<String> flux = this.service.elements(Flux.never());
		assertThat(this.wheel.pending()).isZero();
		this.time.advance(LIMIT);
		CompletableFuture<?> first = flux.then().toFuture();
		this.time.advance(LIMIT.dividedBy(2));
		CompletableFuture<?> second = flux.then().toFuture();
		this.time.advance(LIMIT.dividedBy(2));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(first::join);
		assertThat(second).isNotDone();
		second.cancel(true);
	}

	@Test
	void completesOnTheExecutorAndNotOnTheWheelsThread() {
		CompletableFuture<Thread> future = this.service.future(CompletableFuture::new)
			.handle((value, failure) -> Thread.currentThread());
		CompletableFuture<Thread> mono = new CompletableFuture<>();
		this.service.mono(CompletableFuture::new)
			.doOnError((ex) -> mono.complete(Thread.currentThread()))
			.onErrorComplete()
			.subscribe();
		this.time.advance(LIMIT);
		assertThat(future.join().getName()).isEqualTo("completion");
		assertThat(mono.join().getName()).isEqualTo("completion");
	}

	@Test
	void completingTheResultCancelsTheTimerButNotTheSource() {
		CompletableFuture<String> source = new CompletableFuture<>();
		this.service.future(() -> source).complete("by hand");
		assertThat(this.wheel.pending()).isZero();
		assertThat(source).isNotDone();
	}

	@Test
	void aStageThatOtherAdviceReturnsLateIsCancelled() {
		CompletableFuture<String> source = new CompletableFuture<>();
		Service late = this.proxies.proxy(new Service(), (invocation) -> {
			Object result = invocation.proceed();
			this.time.advance(LIMIT);
			return result;
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> late.future(() -> source));
		assertThat(source).isCancelled();
	}

	@Test
	void aMinimalStageIsLimited() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletionStage<String> result = this.service.minimalStage(source);
		this.time.advance(LIMIT.minusMillis(1));
		CompletionStage<String> later = this.service.minimalStage(source);
		this.time.advance(Duration.ofMillis(1));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result.toCompletableFuture()::join);
		source.complete("in time");
		assertThat(later.toCompletableFuture()).isCompletedWithValue("in time");
	}

	@Test
	void theReadersOfAPlainFutureGetTheTimeoutAndItsBodyIsInterrupted() throws Exception {
		CountDownLatch started = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		ExecutorService workers = Executors.newCachedThreadPool();
		try {
			Future<String> result = this.service.plain(() -> workers.submit(() -> {
				started.countDown();
				try {
					Thread.sleep(Duration.ofHours(1).toMillis());
				}
				catch (InterruptedException ex) {
					interrupted.complete(true);
				}
				return "late";
			}));
			started.await();
			Future<?> reader = workers.submit(() -> result.get());
			this.time.advance(LIMIT);
			assertThat(interrupted.get()).isTrue();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
				.havingCause()
				.isExactlyInstanceOf(ExecutionException.class)
				.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		}
		finally {
			workers.shutdownNow();
		}
	}

	@Test
	void aPlainFutureThatIsDoneAtTheDeadlineIsUnchanged() {
		Settable source = new Settable();
		Future<String> result = this.service.plain(() -> source);
		source.set("in time");
		this.time.advance(LIMIT);
		assertThat(result).isDone();
		assertThat(result.isCancelled()).isFalse();
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void aFutureOfAnotherDeclaredTypeIsCompletedInPlace() {
		Special source = new Special();
		Special result = this.service.special(source);
		assertThat(result).isSameAs(source);
		Special orFallback = this.withFallback.special(new Special());
		this.time.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		await().untilAsserted(() -> assertThat(orFallback).isCompletedWithValue("special"));
		this.service.special(new Special()).complete("in time");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aFutureTaskIsCancelledInPlace() {
		FutureTask<String> source = new FutureTask<>(() -> "late");
		assertThat(this.service.task(source)).isSameAs(source);
		this.time.advance(LIMIT);
		await().until(source::isCancelled);
	}

	@Test
	void theLimitEndsWhenACallReturnsTheHandleOfADurableTask() {
		DelayedTask<Void> handle = Handles.withoutResult();
		assertThat(this.service.handle(handle)).isSameAs(handle);
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.service.object(() -> handle)).isSameAs(handle);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aStageThatCannotBeReplacedOrCancelledNamesTheRemedy() {
		CompletableFuture<String> future = new CompletableFuture<>();
		Promise promise = (Promise) Proxy.newProxyInstance(Promise.class.getClassLoader(),
				new Class<?>[] { Promise.class }, (proxy, method, arguments) -> method.invoke(future, arguments));
		assertThatIllegalStateException().isThrownBy(() -> this.service.promise(promise))
			.withMessageContaining("Service#promise(Promise)")
			.withMessageContaining("return the result itself, or a CompletableFuture");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void theLimitOfAFluxLastsUntilItsCompletionAndTheFallbackFollowsWhatItHasEmitted() {
		for (boolean fallback : new boolean[] { false, true }) {
			Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
			List<String> elements = new ArrayList<>();
			Flux<String> limited = fallback ? this.withFallback.elements(source.asFlux())
					: this.service.elements(source.asFlux());
			CompletableFuture<?> result = limited.doOnNext(elements::add).then().toFuture();
			source.tryEmitNext("first");
			this.time.advance(LIMIT.dividedBy(2));
			source.tryEmitNext("second");
			assertThat(result).isNotDone();
			this.time.advance(LIMIT.dividedBy(2));
			await().until(result::isDone);
			assertThat(result.isCompletedExceptionally()).isEqualTo(!fallback);
			assertThat(elements).containsExactlyElementsOf(
					fallback ? List.of("first", "second", "one", "two") : List.of("first", "second"));
			await().until(() -> source.currentSubscriberCount() == 0);
		}
	}

	@Test
	void anEmptyMonoAndAnInTimeFluxCancelTheTimer() {
		assertThat(this.service.elements(Flux.just("one", "two")).collectList().block()).containsExactly("one", "two");
		assertThat(this.service.elements(Flux.empty()).blockFirst()).isNull();
	}

	@Test
	void aFluxSwitchesToTheFallbackAtEachSubscription() {
		Flux<String> result = this.withFallback.elements(Flux.never());
		for (int i = 0; i < 2; i++) {
			CompletableFuture<List<String>> outcome = result.collectList().toFuture();
			assertThat(outcome).isNotDone();
			this.time.advance(LIMIT);
			assertThat(outcome).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo(List.of("one", "two"));
		}
	}

	private static void complete(Future<String> source, @Nullable String value, @Nullable Throwable failure) {
		if (source instanceof Settable settable) {
			settable.settle(value, failure);
		}
		else if (failure != null) {
			((CompletableFuture<String>) source).completeExceptionally(failure);
		}
		else {
			((CompletableFuture<String>) source).complete(value);
		}
	}

	/**
	 * A future that cannot call back.
	 */
	static class Settable extends FutureTask<String> {

		Settable() {
			super(() -> "unreached");
		}

		@Override
		public void set(@Nullable String value) {
			super.set(value);
		}

		void settle(@Nullable String value, @Nullable Throwable failure) {
			if (failure != null) {
				setException(failure);
			}
			else {
				set(value);
			}
		}

	}

	static class Special extends CompletableFuture<String> {

	}

	interface Promise extends CompletionStage<String> {

	}

	private static Mono<String> toMono(Supplier<Future<String>> body) {
		return Mono.fromFuture((CompletableFuture<String>) body.get());
	}

	static class Service {

		@Timeout("800ms")
		public CompletableFuture<String> future(Supplier<Future<String>> body) {
			return (CompletableFuture<String>) body.get();
		}

		@Timeout("800ms")
		public CompletionStage<String> stage(Supplier<Future<String>> body) {
			return (CompletableFuture<String>) body.get();
		}

		@Timeout("800ms")
		public CompletionStage<String> minimalStage(CompletableFuture<String> source) {
			return source.minimalCompletionStage();
		}

		@Timeout("800ms")
		public Future<String> plain(Supplier<Future<String>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public Object object(Supplier<? extends Future<?>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public Mono<String> mono(Supplier<Future<String>> body) {
			return toMono(body);
		}

		@Timeout("800ms")
		public Flux<String> flux(Supplier<Future<String>> body) {
			return toMono(body).flux();
		}

		@Timeout("800ms")
		public Publisher<String> publisher(Supplier<Future<String>> body) {
			return toMono(body);
		}

		@Timeout("800ms")
		public Flux<String> elements(Flux<String> source) {
			return source;
		}

		@Timeout("800ms")
		public Special special(Special source) {
			return source;
		}

		@Timeout("800ms")
		public FutureTask<String> task(FutureTask<String> source) {
			return source;
		}

		@Timeout("800ms")
		public DelayedTask<Void> handle(DelayedTask<Void> handle) {
			return handle;
		}

		@Timeout("800ms")
		public Promise promise(Promise promise) {
			return promise;
		}

	}

	static class Fallbacks {

		final CompletableFuture<String> later = new CompletableFuture<>();

		final AtomicBoolean called = new AtomicBoolean();

		@Nullable RuntimeException failure;

		@Timeout(timeout = "800ms", fallback = "futureInstead")
		public CompletableFuture<String> future(Supplier<Future<String>> body) {
			return (CompletableFuture<String>) body.get();
		}

		private CompletableFuture<String> futureInstead(Supplier<Future<String>> body) {
			this.called.set(true);
			if (this.failure != null) {
				throw this.failure;
			}
			return this.later;
		}

		@Timeout(timeout = "800ms", fallback = "plainInstead")
		public Future<String> plain(Supplier<Future<String>> body) {
			return body.get();
		}

		private Future<String> plainInstead(Supplier<Future<String>> body) {
			return futureInstead(body);
		}

		@Timeout(timeout = "800ms", fallback = "monoInstead")
		public Mono<String> mono(Supplier<Future<String>> body) {
			return toMono(body);
		}

		private Mono<String> monoInstead(Supplier<Future<String>> body, Throwable timeout) {
			return Mono.fromFuture(futureInstead(body));
		}

		@Timeout(timeout = "800ms", fallback = "fluxInstead")
		public Flux<String> flux(Supplier<Future<String>> body) {
			return toMono(body).flux();
		}

		private Flux<String> fluxInstead(Supplier<Future<String>> body) {
			return Mono.fromFuture(futureInstead(body)).flux();
		}

		@Timeout(timeout = "800ms", fallback = "elementsInstead")
		public Flux<String> elements(Flux<String> source) {
			return source;
		}

		private Flux<String> elementsInstead(Flux<String> source) {
			return Flux.just("one", "two");
		}

		@Timeout(timeout = "800ms", fallback = "specialInstead")
		public Special special(Special source) {
			return source;
		}

		private Special specialInstead(Special source) {
			Special result = new Special();
			result.complete("special");
			return result;
		}

	}

}
