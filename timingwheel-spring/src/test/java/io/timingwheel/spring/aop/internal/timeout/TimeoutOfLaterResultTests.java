package io.timingwheel.spring.aop.internal.timeout;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Futures and publishers in virtual time: in time, late, cancelled, and with a fallback.
 * Each kind of result is that of the method with this name.
 */
@org.junit.jupiter.api.Timeout(60)
class TimeoutOfLaterResultTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final Proxies proxies = new Proxies();

	private final ManualTimeSource time = this.proxies.time;

	private final TimingWheel wheel = this.proxies.wheel;

	private final Service service = this.proxies.proxy(new Service());

	private final Fallbacks fallbacks = new Fallbacks();

	private final Fallbacks withFallback = this.proxies.proxy(this.fallbacks);

	/** What the body returns, or adapts. */
	private final CompletableFuture<String> source = new CompletableFuture<>();

	/** Has no callbacks. */
	private final FutureTask<String> plainSource = new FutureTask<>(this.source::join);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		this.proxies.assertNoTimerAndNoInterruptIsLeft();
	}

	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest
	@ValueSource(strings = { "future", "stage", "plain", "object", "mono", "flux", "publisher" })
	@interface EachKind {

	}

	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest
	@ValueSource(strings = { "future", "plain", "mono" })
	@interface EachKindWithFallback {

	}

	private Future<String> source(String kind) {
		return kind.equals("plain") ? this.plainSource : this.source;
	}

	private void end(@Nullable Throwable failure) {
		if (failure != null) {
			this.source.completeExceptionally(failure);
		}
		else {
			this.source.complete("in time");
		}
		this.plainSource.run();
	}

	private Future<?> call(Service service, String kind) {
		return call(service, kind, () -> source(kind));
	}

	private static Future<?> call(Service service, String kind, Supplier<Future<String>> body) {
		Object result = ReflectionUtils
			.invokeMethod(ReflectionUtils.findMethod(service.getClass(), kind, Supplier.class), service, body);
		return (result instanceof Publisher<?> publisher) ? Mono.from(publisher).toFuture() : (Future<?>) result;
	}

	@EachKind
	void completesExceptionallyAtTheDeadlineAndCancelsTheSource(String kind) {
		Future<?> result = call(this.service, kind);
		this.time.advance(LIMIT.minusNanos(1));
		assertThat(result.isDone()).isFalse();
		this.time.advance(Duration.ofNanos(1));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.havingCause()
			.isExactlyInstanceOf(MethodTimeoutException.class)
			.withMessage("%s.%s did not finish within 800ms", Service.class.getName(), kind)
			.withCauseExactlyInstanceOf(TimeoutException.class);
		assertThat(result.isDone()).isTrue();
		assertThat(result.isCancelled()).isFalse();
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@EachKind
	void aResultInTimeCancelsTheTimer(String kind) throws Exception {
		Future<?> result = call(this.service, kind);
		assertThat(this.wheel.pending()).isOne();
		end(null);
		assertThat(result.get()).isEqualTo("in time");
		assertThat(this.wheel.pending()).isZero();
		this.time.advance(LIMIT);
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@EachKind
	void aFailureInTimeReachesTheCallerAndCancelsTheTimer(String kind) {
		Future<?> result = call(this.service, kind);
		IllegalStateException failure = new IllegalStateException();
		end(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).havingRootCause().isSameAs(failure);
		assertThat(this.wheel.pending()).isZero();
	}

	@EachKind
	void cancellingTheResultCancelsTheTimerAndTheSource(String kind) {
		Future<?> result = call(this.service, kind);
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.wheel.pending()).isZero();
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(result.isCancelled()).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
	}

	@EachKind
	void aCallThatBlocksBeforeItReturnsThrowsAndCancelsAFuture(String kind) {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> call(this.service, kind, () -> {
			this.time.advance(LIMIT);
			return source(kind);
		}));
		if (List.of("future", "stage", "plain", "object").contains(kind)) {
			assertThat(source(kind).isCancelled()).isTrue();
		}
	}

	@EachKindWithFallback
	void theResultFollowsThatOfTheFallback(String kind) throws Exception {
		Future<?> result = call(this.withFallback, kind);
		this.time.advance(LIMIT);
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(result.isDone()).isFalse();
		assertThat(result.isCancelled()).isFalse();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> result.get(1, TimeUnit.MILLISECONDS));
		this.fallbacks.later.complete("later");
		assertThat(result.get()).isEqualTo("later");
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@EachKindWithFallback
	void aFallbackThatThrowsFailsTheResultWithTheTimeoutSuppressed(String kind) {
		IllegalStateException failure = new IllegalStateException("the fallback failed");
		this.fallbacks.failure = failure;
		Future<?> result = call(this.withFallback, kind);
		this.time.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).withCause(failure);
		assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(MethodTimeoutException.class);
	}

	@EachKindWithFallback
	void cancellingTheResultCancelsThatOfTheFallback(String kind) {
		Future<?> result = call(this.withFallback, kind);
		this.time.advance(LIMIT);
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.fallbacks.later).isCancelled();
		assertThat(result.isCancelled()).isTrue();
	}

	@EachKindWithFallback
	void theFallbackIsNotCalledInTime(String kind) throws Exception {
		Future<?> result = call(this.withFallback, kind);
		end(null);
		assertThat(result.get()).isEqualTo("in time");
		assertThat(this.fallbacks.called).isFalse();
	}

	@Test
	void theDeadlineOfAFutureCountsFromTheCall() {
		CompletableFuture<String> result = this.service.future(() -> {
			this.time.advance(LIMIT.minusMillis(1));
			return this.source;
		});
		assertThat(result).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThat(result).isCompletedExceptionally();
	}

	@Test
	void completingTheResultCancelsTheTimerButNotTheSource() {
		this.service.future(() -> this.source).complete("by hand");
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.source).isNotDone();
	}

	@Test
	void aStageThatOtherAdviceReturnsLateIsCancelled() {
		Service late = this.proxies.proxy(new Service(), (invocation) -> {
			Object result = invocation.proceed();
			this.time.advance(LIMIT);
			return result;
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> late.future(() -> this.source));
		assertThat(this.source).isCancelled();
	}

	@Test
	void aMinimalStageIsLimited() {
		CompletionStage<String> result = this.service.minimalStage(this.source);
		this.time.advance(LIMIT.minusMillis(1));
		CompletionStage<String> later = this.service.minimalStage(this.source);
		this.time.advance(Duration.ofMillis(1));
		assertThat(result.toCompletableFuture()).isCompletedExceptionally();
		end(null);
		assertThat(later.toCompletableFuture()).isCompletedWithValue("in time");
	}

	@Test
	void theReadersOfAPlainFutureGetTheTimeoutAndItsBodyIsInterrupted() throws Exception {
		CountDownLatch started = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		FutureTask<String> body = new FutureTask<>(() -> {
			started.countDown();
			try {
				new CountDownLatch(1).await();
			}
			catch (InterruptedException ex) {
				interrupted.complete(true);
			}
			return "late";
		});
		Future<String> result = this.service.plain(() -> body);
		FutureTask<String> reader = new FutureTask<>(result::get);
		new Thread(body).start();
		new Thread(reader).start();
		started.await();
		this.time.advance(LIMIT);
		assertThat(interrupted.get()).isTrue();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
			.havingRootCause()
			.isExactlyInstanceOf(TimeoutException.class);
	}

	@Test
	void aPlainFutureThatIsDoneAtTheDeadlineIsUnchanged() {
		Future<String> result = this.service.plain(() -> this.plainSource);
		end(null);
		this.time.advance(LIMIT);
		assertThat(result).isDone();
		assertThat(result.isCancelled()).isFalse();
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void aFutureOfAnotherDeclaredTypeIsCompletedInPlace() {
		Special special = new Special();
		assertThat(this.service.special(special)).isSameAs(special);
		Special orFallback = this.withFallback.special(new Special());
		this.time.advance(LIMIT);
		assertThat(special).isCompletedExceptionally();
		assertThat(orFallback).isCompletedWithValue("special");
		this.service.special(new Special()).complete("in time");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void theLimitEndsWhenACallReturnsTheHandleOfADurableTask() {
		DelayedTask<Void> handle = Handles.withoutResult();
		assertThat(this.service.handle(handle)).isSameAs(handle);
		assertThat(this.service.anything(handle)).isSameAs(handle);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aStageThatCannotBeReplacedOrCancelledNamesTheRemedy() {
		Object promise = Proxy.newProxyInstance(Promise.class.getClassLoader(), new Class<?>[] { Promise.class },
				(proxy, method, arguments) -> method.invoke(this.source, arguments));
		assertThatIllegalStateException().isThrownBy(() -> this.service.promise((Promise) promise))
			.withMessageContaining("Service#promise(Promise)")
			.withMessageContaining("return the result itself, or a CompletableFuture");
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theLimitOfAFluxLastsUntilItsCompletionAndTheFallbackFollowsWhatItHasEmitted(boolean fallback) {
		Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
		List<String> elements = new ArrayList<>();
		CompletableFuture<?> result = (fallback ? this.withFallback : this.service).elements(source.asFlux())
			.doOnNext(elements::add)
			.then()
			.toFuture();
		source.tryEmitNext("first");
		this.time.advance(LIMIT.dividedBy(2));
		source.tryEmitNext("second");
		assertThat(result).isNotDone();
		this.time.advance(LIMIT.dividedBy(2));
		assertThat(result.isCompletedExceptionally()).isEqualTo(!fallback);
		assertThat(elements)
			.isEqualTo(fallback ? List.of("first", "second", "one", "two") : List.of("first", "second"));
		assertThat(source.currentSubscriberCount()).isZero();
	}

	@Test
	void eachSubscriptionOfAFluxHasALimitAndAFallbackOfItsOwn() {
		assertThat(this.service.elements(Flux.just("one", "two")).collectList().block()).containsExactly("one", "two");
		assertThat(this.service.elements(Flux.empty()).blockFirst()).isNull();
		Flux<String> result = this.withFallback.elements(Flux.never());
		for (int i = 0; i < 2; i++) {
			CompletableFuture<List<String>> outcome = result.collectList().toFuture();
			this.time.advance(LIMIT.minusNanos(1));
			assertThat(outcome).isNotDone();
			this.time.advance(Duration.ofNanos(1));
			assertThat(outcome).isCompletedWithValue(List.of("one", "two"));
		}
	}

	static class Special extends CompletableFuture<String> {

	}

	interface Promise extends CompletionStage<String> {

	}

	@Timeout("800ms")
	public static class Service {

		public CompletableFuture<String> future(Supplier<Future<String>> body) {
			return (CompletableFuture<String>) body.get();
		}

		public CompletionStage<String> stage(Supplier<Future<String>> body) {
			return (CompletableFuture<String>) body.get();
		}

		public Future<String> plain(Supplier<Future<String>> body) {
			return body.get();
		}

		public Object object(Supplier<Future<String>> body) {
			return body.get();
		}

		public Mono<String> mono(Supplier<Future<String>> body) {
			return Mono.fromFuture((CompletableFuture<String>) body.get());
		}

		public Flux<String> flux(Supplier<Future<String>> body) {
			return Mono.fromFuture((CompletableFuture<String>) body.get()).flux();
		}

		public Publisher<String> publisher(Supplier<Future<String>> body) {
			return Mono.fromFuture((CompletableFuture<String>) body.get());
		}

		public Flux<String> elements(Flux<String> source) {
			return source;
		}

		public CompletionStage<String> minimalStage(CompletableFuture<String> source) {
			return source.minimalCompletionStage();
		}

		public Special special(Special source) {
			return source;
		}

		public DelayedTask<Void> handle(DelayedTask<Void> handle) {
			return handle;
		}

		public Object anything(Object object) {
			return object;
		}

		public Promise promise(Promise promise) {
			return promise;
		}

	}

	public static class Fallbacks extends Service {

		final CompletableFuture<String> later = new CompletableFuture<>();

		boolean called;

		@Nullable RuntimeException failure;

		@Override
		@Timeout(timeout = "800ms", fallback = "instead")
		public CompletableFuture<String> future(Supplier<Future<String>> body) {
			return super.future(body);
		}

		@Override
		@Timeout(timeout = "800ms", fallback = "instead")
		public Future<String> plain(Supplier<Future<String>> body) {
			return super.plain(body);
		}

		private CompletableFuture<String> instead(Supplier<Future<String>> body) {
			this.called = true;
			if (this.failure != null) {
				throw this.failure;
			}
			return this.later;
		}

		@Override
		@Timeout(timeout = "800ms", fallback = "monoInstead")
		public Mono<String> mono(Supplier<Future<String>> body) {
			return super.mono(body);
		}

		private Mono<String> monoInstead(Supplier<Future<String>> body, Throwable timeout) {
			return Mono.fromFuture(instead(body));
		}

		@Override
		@Timeout(timeout = "800ms", fallback = "elementsInstead")
		public Flux<String> elements(Flux<String> source) {
			return super.elements(source);
		}

		private Flux<String> elementsInstead(Flux<String> source) {
			return Flux.just("one", "two");
		}

		@Override
		@Timeout(timeout = "800ms", fallback = "specialInstead")
		public Special special(Special source) {
			return super.special(source);
		}

		private Special specialInstead(Special source) {
			Special result = new Special();
			result.complete("special");
			return result;
		}

	}

}
