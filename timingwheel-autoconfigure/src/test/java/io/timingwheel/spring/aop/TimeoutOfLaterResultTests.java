package io.timingwheel.spring.aop;

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
import java.util.concurrent.Flow;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import io.timingwheel.spring.task.DelayedTask;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.FlowAdapters;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.util.ReflectionUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Results whose work goes on, or begins, after the method has returned: in time, late,
 * failed, cancelled, and with a fallback. Each kind of result is that of the method with
 * this name.
 */
@org.junit.jupiter.api.Timeout(60)
class TimeoutOfLaterResultTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class, Fallbacks.class, InheritedLoader.class)
		.with("spring.aop.proxy-target-class=false", "timingwheel.tick=1ns");

	/** What the body returns, or adapts. */
	private final CompletableFuture<String> source = new CompletableFuture<>();

	/** Has no callbacks. */
	private final FutureTask<String> plainSource = new FutureTask<>(this.source::join);

	/** What the fallback returns, or adapts. */
	private final CompletableFuture<String> instead = new CompletableFuture<>();

	@BeforeAll
	static void noteTimeouts(TimeoutMethodRegistry methods) {
		methods.onTimeout((method) -> app.calls().add("timeout"));
	}

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(app.timers()).isZero();
		assertThat(Thread.interrupted()).isFalse();
	}

	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest
	@ValueSource(strings = { "future", "stage", "plain", "mono", "flux", "publisher", "flow", "single", "maybe",
			"completable", "observable", "flowable" })
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

	private Future<?> call(Class<?> service, String kind) {
		return call(service, kind, new Call(() -> source(kind), () -> this.instead));
	}

	/** The limit of a publisher counts from the subscription. */
	private static Future<?> call(Class<?> service, String kind, Call call) {
		Object result = ReflectionUtils.invokeMethod(ReflectionUtils.findMethod(service, kind, Call.class),
				app.bean(service), call);
		if (result instanceof Future<?> future) {
			return future;
		}
		app.advance(LIMIT);
		return Mono.from(ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, result).toPublisher(result))
			.toFuture();
	}

	@EachKind
	void completesExceptionallyAtTheDeadlineAndCancelsTheSource(String kind) {
		Future<?> result = call(Service.class, kind);
		app.advance(LIMIT.minusNanos(1));
		assertThat(result.isDone()).isFalse();
		app.advance(Duration.ofNanos(1));
		assertThat(result.isDone()).isTrue();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.havingCause()
			.isExactlyInstanceOf(MethodTimeoutException.class)
			.withMessage("%s.%s did not finish within 800ms", Service.class.getName(), kind)
			.withCauseExactlyInstanceOf(TimeoutException.class);
		assertThat(result.isCancelled()).isFalse();
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(app.calls()).containsExactly("timeout");
	}

	@EachKind
	void aResultInTimeCancelsTheTimer(String kind) throws Exception {
		Future<?> result = call(Service.class, kind);
		assertThat(app.timers()).isOne();
		end(null);
		assertThat(result.get()).isEqualTo(kind.equals("completable") ? null : "in time");
		assertThat(app.timers()).isZero();
		app.advance(LIMIT);
		assertThat(app.calls()).isEmpty();
	}

	@EachKind
	void aFailureInTimeReachesTheCallerAndCancelsTheTimer(String kind) {
		Future<?> result = call(Service.class, kind);
		IllegalStateException failure = new IllegalStateException();
		end(failure);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).havingRootCause().isSameAs(failure);
		assertThat(app.timers()).isZero();
	}

	@EachKind
	void cancellingTheResultCancelsTheTimerAndTheSource(String kind) {
		Future<?> result = call(Service.class, kind);
		assertThat(result.cancel(true)).isTrue();
		assertThat(app.timers()).isZero();
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(result.isCancelled()).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
	}

	@EachKind
	void aCallThatBlocksBeforeItReturnsThrowsAndCancelsAFuture(String kind) {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> call(Service.class, kind, new Call(() -> {
				app.advance(LIMIT);
				return source(kind);
			}, null)));
		if (List.of("future", "stage", "plain").contains(kind)) {
			assertThat(source(kind).isCancelled()).isTrue();
		}
	}

	@EachKindWithFallback
	void theResultFollowsThatOfTheFallback(String kind) throws Exception {
		Future<?> result = call(Fallbacks.class, kind);
		app.advance(LIMIT);
		assertThat(source(kind).isCancelled()).isTrue();
		assertThat(result.isDone()).isFalse();
		assertThat(result.isCancelled()).isFalse();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> result.get(1, TimeUnit.MILLISECONDS));
		this.instead.complete("later");
		assertThat(result.get()).isEqualTo("later");
		assertThat(app.calls()).containsExactly("timeout", "fallback");
	}

	@EachKindWithFallback
	void aCallThatBlocksBeforeItReturnsGivesTheResultOfTheFallback(String kind) throws Exception {
		this.instead.complete("fallback");
		assertThat(call(Fallbacks.class, kind, new Call(() -> {
			app.advance(LIMIT);
			return source(kind);
		}, () -> this.instead)).get()).isEqualTo("fallback");
	}

	@EachKindWithFallback
	void aFallbackThatThrowsFailsTheResultWithTheTimeoutSuppressed(String kind) {
		IllegalStateException failure = new IllegalStateException("the fallback failed");
		Future<?> result = call(Fallbacks.class, kind, new Call(() -> source(kind), () -> {
			throw failure;
		}));
		app.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).withCause(failure);
		assertThat(failure.getSuppressed()).hasAtLeastOneElementOfType(MethodTimeoutException.class);
	}

	@EachKindWithFallback
	void cancellingTheResultCancelsThatOfTheFallback(String kind) {
		Future<?> result = call(Fallbacks.class, kind);
		app.advance(LIMIT);
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.instead).isCancelled();
		assertThat(result.isCancelled()).isTrue();
	}

	@EachKindWithFallback
	void theFallbackIsNotCalledInTime(String kind) throws Exception {
		Future<?> result = call(Fallbacks.class, kind);
		end(null);
		assertThat(result.get()).isEqualTo("in time");
		assertThat(app.calls()).isEmpty();
	}

	@Test
	void theDeadlineOfAFutureCountsFromTheCall() {
		Future<?> result = call(Service.class, "future", new Call(() -> {
			app.advance(LIMIT.minusMillis(1));
			return this.source;
		}, null));
		assertThat(result.isDone()).isFalse();
		app.advance(Duration.ofMillis(1));
		assertThat(result.isDone()).isTrue();
	}

	@Test
	void completingTheResultCancelsTheTimerButNotTheSource() {
		((CompletableFuture<?>) call(Service.class, "future")).complete(null);
		assertThat(app.timers()).isZero();
		assertThat(this.source).isNotDone();
	}

	@Test
	void aMinimalStageIsLimited(Service service) {
		CompletionStage<?> result = service.minimal(this.source.minimalCompletionStage());
		app.advance(LIMIT.minusMillis(1));
		CompletionStage<?> later = service.minimal(this.source.minimalCompletionStage());
		app.advance(Duration.ofMillis(1));
		assertThat(result.toCompletableFuture()).isCompletedExceptionally();
		end(null);
		assertThat(later.toCompletableFuture().join()).isEqualTo("in time");
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
		Future<?> result = call(Service.class, "plain", new Call(() -> body, null));
		FutureTask<Object> reader = new FutureTask<>(result::get);
		new Thread(body).start();
		new Thread(reader).start();
		started.await();
		app.advance(LIMIT);
		assertThat(interrupted.get()).isTrue();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
			.havingRootCause()
			.isExactlyInstanceOf(TimeoutException.class);
	}

	@Test
	void aPlainFutureThatIsDoneAtTheDeadlineIsUnchanged() {
		Future<?> result = call(Service.class, "plain");
		end(null);
		app.advance(LIMIT);
		assertThat(result.isDone()).isTrue();
		assertThat(result.isCancelled()).isFalse();
		assertThat(app.calls()).isEmpty();
	}

	@Test
	void theLimitOfAMethodWhoseSubclassSaysItsTypeIsThatOfAFuture(Loader<CompletableFuture<String>> loader) {
		CompletableFuture<String> future = loader.load();
		app.advance(LIMIT);
		assertThat(future).isCompletedExceptionally();
	}

	@Test
	void theLimitEndsWhenACallReturnsTheHandleOfADurableTask(Service service) {
		DelayedTask<?> handle = (DelayedTask<?>) Proxy.newProxyInstance(DelayedTask.class.getClassLoader(),
				new Class<?>[] { DelayedTask.class }, (proxy, method, arguments) -> {
					if (method.getName().equals("isDone")) {
						return false;
					}
					throw new UnsupportedOperationException();
				});
		assertThat(service.handle(handle)).isSameAs(handle);
		assertThat(service.anyFuture(handle)).isSameAs(handle);
		assertThat(app.timers()).isZero();
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void theLimitOfAFluxLastsUntilItsCompletionAndTheFallbackFollowsWhatItHasEmitted(boolean fallback) {
		Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
		List<String> elements = new ArrayList<>();
		Flux<String> flux = fallback ? app.bean(Fallbacks.class).elements(source.asFlux())
				: app.bean(Service.class).elements(source.asFlux());
		CompletableFuture<?> result = flux.doOnNext(elements::add).then().toFuture();
		source.tryEmitNext("first");
		app.advance(LIMIT.dividedBy(2));
		source.tryEmitNext("second");
		assertThat(result).isNotDone();
		app.advance(LIMIT.dividedBy(2));
		assertThat(result.isCompletedExceptionally()).isEqualTo(!fallback);
		assertThat(elements)
			.isEqualTo(fallback ? List.of("first", "second", "one", "two") : List.of("first", "second"));
		assertThat(source.currentSubscriberCount()).isZero();
	}

	@Test
	void eachSubscriptionOfAFluxHasALimitAndAFallbackOfItsOwn(Service service, Fallbacks fallbacks) {
		assertThat(service.elements(Flux.just("one", "two")).collectList().block()).containsExactly("one", "two");
		assertThat(service.elements(Flux.empty()).blockFirst()).isNull();
		Flux<String> result = fallbacks.elements(Flux.never());
		for (int i = 0; i < 2; i++) {
			CompletableFuture<List<String>> outcome = result.collectList().toFuture();
			app.advance(LIMIT.minusNanos(1));
			assertThat(outcome).isNotDone();
			app.advance(Duration.ofNanos(1));
			assertThat(outcome).isCompletedWithValue(List.of("one", "two"));
		}
	}

	@Test
	void theDeclaredTypeDecidesSoAnObjectIsLimitedUntilItIsReturned(Service service) {
		assertThat(service.anything(this.source)).isSameAs(this.source);
		assertThat(app.timers()).isZero();
	}

	/** What a call gives, and what its fallback gives. */
	record Call(Supplier<Future<String>> body, @Nullable Supplier<CompletableFuture<String>> fallback) {

		CompletableFuture<String> future() {
			return (CompletableFuture<String>) this.body.get();
		}

		Mono<String> mono() {
			return Mono.fromFuture(future());
		}

	}

	@Timeout("800ms")
	public static class Service {

		public CompletableFuture<String> future(Call call) {
			return call.future();
		}

		public CompletionStage<String> stage(Call call) {
			return call.future();
		}

		public Future<String> plain(Call call) {
			return call.body().get();
		}

		public Mono<String> mono(Call call) {
			return call.mono();
		}

		public Flux<String> flux(Call call) {
			return call.mono().flux();
		}

		public Publisher<String> publisher(Call call) {
			return call.mono();
		}

		public Flow.Publisher<String> flow(Call call) {
			return FlowAdapters.toFlowPublisher(call.mono());
		}

		public Single<String> single(Call call) {
			return Single.fromPublisher(call.mono());
		}

		public Maybe<String> maybe(Call call) {
			return Maybe.fromPublisher(call.mono());
		}

		public Completable completable(Call call) {
			return Completable.fromPublisher(call.mono());
		}

		public Observable<String> observable(Call call) {
			return Observable.fromPublisher(call.mono());
		}

		public Flowable<String> flowable(Call call) {
			return Flowable.fromPublisher(call.mono());
		}

		public Flux<String> elements(Flux<String> source) {
			return source;
		}

		public DelayedTask<?> handle(DelayedTask<?> handle) {
			return handle;
		}

		public Future<?> anyFuture(Future<?> future) {
			return future;
		}

		public CompletionStage<String> minimal(CompletionStage<String> stage) {
			return stage;
		}

		public Object anything(Object object) {
			return object;
		}

	}

	@Timeout(timeout = "800ms", fallback = "instead")
	public static class Fallbacks {

		public CompletableFuture<String> future(Call call) {
			return call.future();
		}

		public Future<String> plain(Call call) {
			return call.body().get();
		}

		private CompletableFuture<String> instead(Call call) {
			app.calls().add("fallback");
			return call.fallback().get();
		}

		@Timeout(timeout = "800ms", fallback = "monoInstead")
		public Mono<String> mono(Call call) {
			return call.mono();
		}

		private Mono<String> monoInstead(Call call, Throwable timeout) {
			return Mono.fromFuture(instead(call));
		}

		public Flux<String> elements(Flux<String> source) {
			return source;
		}

		private Flux<String> instead(Flux<String> source) {
			return Flux.just("one", "two");
		}

	}

	interface Loader<T> {

		@Timeout("800ms")
		T load();

	}

	abstract static class AbstractLoader<T> implements Loader<T> {

		@Override
		@SuppressWarnings("unchecked")
		public T load() {
			return (T) new CompletableFuture<String>();
		}

	}

	static class InheritedLoader extends AbstractLoader<CompletableFuture<String>> {

	}

}
