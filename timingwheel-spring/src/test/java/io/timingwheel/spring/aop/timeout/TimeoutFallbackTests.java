package io.timingwheel.spring.aop.timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Fallbacks in virtual time.
 */
@org.junit.jupiter.api.Timeout(60)
class TimeoutFallbackTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final Proxies proxies = new Proxies(this.wheel, Runnable::run);

	private final Service target = new Service();

	private final Service service = this.proxies.proxy(this.target);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void theCallerGetsTheResultOfTheFallback() throws Exception {
		assertThat(this.service.plain("tea", this::late)).isEqualTo("instead of tea");
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void theFallbackIsNotCalledIfTheMethodReturnsOrFailsInTime() throws Exception {
		assertThat(this.service.plain("tea", () -> "in time")).isEqualTo("in time");
		IllegalStateException failure = new IllegalStateException();
		assertThatIllegalStateException().isThrownBy(() -> this.service.plain("tea", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(this.target.calls).isEmpty();
	}

	@Test
	void theFallbackRunsOnTheThreadOfTheCallerWithoutTheInterrupt() throws Exception {
		assertThat(this.service.withTimeout("tea", this::late)).isEqualTo("800ms");
		assertThat(this.target.calls).containsExactly(Thread.currentThread());
		assertThat(this.target.interrupted).isFalse();
	}

	@Test
	void theFallbackWithTheExceptionPrecedesTheFallbackWithout() throws Exception {
		assertThat(this.service.overloaded("tea", this::late)).isEqualTo("with the exception");
	}

	@Test
	void theFallbackMayBeStaticOrInherited() throws Exception {
		assertThat(this.service.ofClass(this::late)).isEqualTo("static");
		assertThat(this.service.inherited(this::late)).isEqualTo("inherited");
	}

	@Test
	void aCallWithoutTimeLeftGetsTheResultOfTheFallback() {
		assertThat(this.service.budget(0)).isEqualTo("nothing left of 0");
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void anExceptionOfTheFallbackHasTheTimeoutSuppressed() {
		assertThatIllegalStateException().isThrownBy(() -> this.service.failing(this::late))
			.withMessage("the fallback failed")
			.satisfies(
					(ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(MethodTimeoutException.class));
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.rethrowing(this::late))
			.satisfies((ex) -> assertThat(Proxies.suppressed(ex)).isEmpty());
	}

	@Test
	void theTimeoutOfAnInnerCallIsNoTimeoutOfTheOuterCall() {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.outer(() -> this.service.withoutFallback(this::late)));
		assertThat(this.target.calls).isEmpty();
	}

	@Test
	void theFallbackOfAnInnerCallRunsInTheTimeOfTheOuterCall() throws Exception {
		assertThat(this.service.outer(() -> this.service.plain("tea", this::late))).isEqualTo("instead of tea");
		assertThat(this.service.outer(() -> this.service.plain("tea", () -> {
			this.time.advance(Duration.ofSeconds(10));
			return "late";
		}))).isEqualTo("outer");
	}

	@Test
	void aFutureFollowsTheFutureOfTheFallback() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(source);
		this.time.advance(LIMIT);
		assertThat(source).isCancelled();
		assertThat(result).isNotDone();
		this.target.later.complete("later");
		assertThat(result).isCompletedWithValue("later");
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void aFutureFailsIfTheFallbackThrows() {
		this.target.failure = new IllegalStateException("the fallback failed");
		CompletableFuture<String> result = this.service.future(new CompletableFuture<>());
		this.time.advance(LIMIT);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join)
			.havingCause()
			.isSameAs(this.target.failure)
			.satisfies(
					(ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(MethodTimeoutException.class));
	}

	@Test
	void cancellingTheResultCancelsTheFutureOfTheFallback() {
		CompletableFuture<String> result = this.service.future(new CompletableFuture<>());
		this.time.advance(LIMIT);
		result.cancel(true);
		assertThat(this.target.later).isCancelled();
	}

	@Test
	void aMethodThatBlocksBeforeItReturnsItsFutureGivesTheFutureOfTheFallback() {
		assertThat(this.service.blockingFuture(() -> this.time.advance(LIMIT))).isSameAs(this.target.later);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aPlainFutureGivesTheResultOfTheFallback() throws Exception {
		FutureTask<String> source = new FutureTask<>(() -> "late");
		Future<String> result = this.service.plainFuture(source);
		this.time.advance(LIMIT);
		assertThat(source).isCancelled();
		assertThat(result.isDone()).isFalse();
		assertThat(result.isCancelled()).isFalse();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> result.get(1, TimeUnit.MILLISECONDS));
		this.target.later.complete("later");
		assertThat(result.isDone()).isTrue();
		assertThat(result.get()).isEqualTo("later");
		assertThat(result.get(1, TimeUnit.SECONDS)).isEqualTo("later");
	}

	@Test
	void aPlainFutureCanBeCancelledWhileItsFallbackRuns() {
		Future<String> result = this.service.plainFuture(new FutureTask<>(() -> "late"));
		this.time.advance(LIMIT);
		assertThat(result.cancel(true)).isTrue();
		assertThat(result.isCancelled()).isTrue();
		assertThat(this.target.later).isCancelled();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
	}

	@Test
	void aPlainFutureReportsTheExceptionOfTheFallback() {
		this.target.failure = new IllegalStateException("the fallback failed");
		Future<String> result = this.service.plainFuture(new FutureTask<>(() -> "late"));
		this.time.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.havingCause()
			.isSameAs(this.target.failure);
	}

	@Test
	void aSubclassOfCompletableFutureIsCompletedByTheFallback() {
		Special source = new Special();
		Special result = this.service.special(source);
		this.time.advance(LIMIT);
		assertThat(result).isSameAs(source).isCompletedWithValue("special");
	}

	@Test
	void aMonoSwitchesToTheMonoOfTheFallbackAtEachSubscription() {
		Mono<String> result = this.service.mono(Mono.never());
		for (int i = 0; i < 2; i++) {
			CompletableFuture<String> outcome = result.toFuture();
			assertThat(outcome).isNotDone();
			this.time.advance(LIMIT);
			assertThat(outcome).isCompletedWithValue("fallback");
		}
		assertThat(this.service.mono(Mono.just("in time")).block()).isEqualTo("in time");
		assertThat(this.service.mono(Mono.empty()).blockOptional()).isEmpty();
	}

	@Test
	void aMonoFailsIfTheFallbackThrows() {
		this.target.failure = new IllegalStateException("the fallback failed");
		CompletableFuture<String> outcome = this.service.mono(Mono.never()).toFuture();
		this.time.advance(LIMIT);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(outcome::join)
			.havingCause()
			.isSameAs(this.target.failure);
	}

	@Test
	void theElementsOfTheFallbackFollowThoseThatTheFluxHasEmitted() {
		Sinks.Many<String> source = Sinks.many().unicast().onBackpressureBuffer();
		List<String> elements = new ArrayList<>();
		CompletableFuture<Void> end = new CompletableFuture<>();
		this.service.flux(source.asFlux())
			.subscribe(elements::add, end::completeExceptionally, () -> end.complete(null));
		source.tryEmitNext("in time");
		this.time.advance(LIMIT);
		assertThat(elements).containsExactly("in time", "one", "two");
		assertThat(end).isCompleted();
		assertThat(source.currentSubscriberCount()).isZero();
	}

	private String late() {
		this.time.advance(LIMIT);
		return "late";
	}

	static class Special extends CompletableFuture<String> {

	}

	static class Base<T> {

		String inheritedFallback(T body) {
			return "inherited";
		}

	}

	static class Service extends Base<Callable<String>> {

		final List<Thread> calls = new ArrayList<>();

		final CompletableFuture<String> later = new CompletableFuture<>();

		boolean interrupted;

		@Nullable RuntimeException failure;

		@Timeout(timeout = "800ms", fallback = "plainFallback")
		public String plain(String item, Callable<String> body) throws Exception {
			return body.call();
		}

		private String plainFallback(String item, Callable<String> body) {
			return "instead of " + item;
		}

		@Timeout(timeout = "800ms", fallback = "timeoutFallback")
		public String withTimeout(String item, Callable<String> body) throws Exception {
			return body.call();
		}

		private String timeoutFallback(String item, Callable<String> body, Exception timeout) {
			this.calls.add(Thread.currentThread());
			this.interrupted = Thread.currentThread().isInterrupted();
			return ((MethodTimeoutException) timeout).getTimeout().toMillis() + "ms";
		}

		@Timeout(timeout = "800ms", fallback = "overload")
		public Object overloaded(String item, Callable<String> body) throws Exception {
			return body.call();
		}

		String overload(String item, Callable<String> body) {
			return "without";
		}

		String overload(String item, Callable<String> body, MethodTimeoutException timeout) {
			return "with the exception";
		}

		String overload(String item) {
			return "other parameters";
		}

		@Timeout(timeout = "800ms", fallback = "staticFallback")
		public String ofClass(Callable<String> body) throws Exception {
			return body.call();
		}

		private static String staticFallback(Callable<String> body) {
			return "static";
		}

		@Timeout(timeout = "800ms", fallback = "inheritedFallback")
		public String inherited(Callable<String> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#millis", fallback = "nothingLeft")
		public String budget(int millis) {
			return "unreached";
		}

		String nothingLeft(int millis) {
			return "nothing left of " + millis;
		}

		@Timeout(timeout = "800ms", fallback = "fail")
		public String failing(Callable<String> body) throws Exception {
			return body.call();
		}

		String fail(Callable<String> body) {
			throw new IllegalStateException("the fallback failed");
		}

		@Timeout(timeout = "800ms", fallback = "rethrow")
		public String rethrowing(Callable<String> body) throws Exception {
			return body.call();
		}

		String rethrow(Callable<String> body, RuntimeException timeout) {
			throw timeout;
		}

		@Timeout("800ms")
		public String withoutFallback(Callable<String> body) throws Exception {
			return body.call();
		}

		@Timeout(timeout = "5s", fallback = "outerFallback")
		public String outer(Callable<String> body) throws Exception {
			return body.call();
		}

		String outerFallback(Callable<String> body) {
			this.calls.add(Thread.currentThread());
			return "outer";
		}

		@Timeout(timeout = "800ms", fallback = "laterFuture")
		public CompletableFuture<String> future(CompletableFuture<String> source) {
			return source;
		}

		private CompletableFuture<String> laterFuture(Future<String> source) {
			throw new AssertionError("other parameters");
		}

		private CompletableFuture<String> laterFuture(CompletableFuture<String> source) {
			throwFailure();
			return this.later;
		}

		@Timeout(timeout = "800ms", fallback = "blockingFallback")
		public CompletableFuture<String> blockingFuture(Runnable body) {
			body.run();
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> blockingFallback(Runnable body) {
			return this.later;
		}

		@Timeout(timeout = "800ms", fallback = "plainFutureFallback")
		public Future<String> plainFuture(Future<String> source) {
			return source;
		}

		private Future<String> plainFutureFallback(Future<String> source) {
			throwFailure();
			return this.later;
		}

		@Timeout(timeout = "800ms", fallback = "specialFallback")
		public Special special(Special source) {
			return source;
		}

		private Special specialFallback(Special source) {
			Special result = new Special();
			result.complete("special");
			return result;
		}

		@Timeout(timeout = "800ms", fallback = "monoFallback")
		public Mono<String> mono(Mono<String> source) {
			return source;
		}

		private Mono<String> monoFallback(Mono<String> source, Throwable timeout) {
			throwFailure();
			return Mono.just("fallback");
		}

		@Timeout(timeout = "800ms", fallback = "fluxFallback")
		public Flux<String> flux(Flux<String> source) {
			return source;
		}

		private Flux<String> fluxFallback(Flux<String> source) {
			return Flux.just("one", "two");
		}

		private void throwFailure() {
			if (this.failure != null) {
				throw this.failure;
			}
		}

	}

}
