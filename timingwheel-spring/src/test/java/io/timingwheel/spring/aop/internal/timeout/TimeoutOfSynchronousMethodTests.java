package io.timingwheel.spring.aop.internal.timeout;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.core.task.TaskRejectedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Synchronous methods, and their fallbacks, in virtual time.
 */
class TimeoutOfSynchronousMethodTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final Proxies proxies = new Proxies();

	private final ManualTimeSource time = this.proxies.time;

	private final Service service = this.proxies.proxy(new Service());

	private final WithFallback fallbacks = new WithFallback();

	private final WithFallback withFallback = this.proxies.proxy(this.fallbacks);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		this.proxies.assertNoTimerAndNoInterruptIsLeft();
	}

	private static MethodTimeoutException timeoutOf(ThrowingCallable call) {
		Throwable thrown = catchThrowable(call);
		assertThat(thrown).isExactlyInstanceOf(MethodTimeoutException.class);
		return (MethodTimeoutException) thrown;
	}

	private String late() {
		this.time.advance(LIMIT);
		return "late";
	}

	private static boolean isInterrupted() {
		return Thread.currentThread().isInterrupted();
	}

	@Test
	void aCallInTimeIsUnchanged() throws Exception {
		assertThat(this.service.call(() -> {
			this.time.advance(LIMIT.minusNanos(1));
			assertThat(isInterrupted()).isFalse();
			return Thread.currentThread();
		})).isEqualTo(Thread.currentThread());
		IOException failure = new IOException();
		assertThat(catchThrowable(() -> this.service.call(() -> {
			throw failure;
		}))).isSameAs(failure).hasNoSuppressedExceptions();
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void isInterruptedAtTheDeadlineAndTheLateResultIsDiscarded() throws Exception {
		AtomicReference<Boolean> interrupted = new AtomicReference<>();
		MethodTimeoutException timeout = timeoutOf(() -> this.service.call(() -> {
			late();
			interrupted.set(isInterrupted());
			return "late";
		}));
		assertThat(interrupted).hasValue(true);
		assertThat(timeout).hasMessage(Service.class.getName() + ".call did not finish within 800ms")
			.hasCauseExactlyInstanceOf(TimeoutException.class);
		assertThat(timeout.getMethod()).isEqualTo(Service.class.getMethod("call", Callable.class));
		assertThat(timeout.getTimeout()).isEqualTo(LIMIT);
		assertThat(Proxies.suppressed(timeout)).isEmpty();
		assertThat(this.proxies.timeouts).containsExactly(timeout.getMethod());
	}

	@Test
	void theExceptionOfTheInterruptedBodyIsSuppressed() {
		assertThat(Proxies.suppressed(timeoutOf(() -> this.service.call(() -> {
			late();
			Thread.sleep(1);
			return "unreached";
		})))).singleElement().isInstanceOf(InterruptedException.class);
	}

	@Test
	void theInterruptIsClearedEvenIfTheBodyRestoredIt() {
		timeoutOf(() -> this.service.call(() -> {
			late();
			assertThat(Thread.interrupted()).isTrue();
			Thread.currentThread().interrupt();
			return null;
		}));
	}

	@Test
	void theAdviceAroundTheBodySeesTheTimeoutWithoutTheInterruptAndMayReplaceIt() {
		AtomicReference<Throwable> seen = new AtomicReference<>();
		RuntimeException replacement = new IllegalStateException("rollback failed");
		for (boolean replaces : List.of(false, true)) {
			Service service = this.proxies.proxy(new Service(), (invocation) -> {
				try {
					return invocation.proceed();
				}
				catch (MethodTimeoutException ex) {
					assertThat(isInterrupted()).isFalse();
					seen.set(ex);
					throw replaces ? replacement : ex;
				}
			});
			MethodTimeoutException timeout = timeoutOf(() -> service.call(this::late));
			assertThat(timeout == seen.get()).isEqualTo(!replaces);
			assertThat(Proxies.suppressed(timeout)).isEqualTo(replaces ? List.of(replacement) : List.of());
		}
		assertThat(this.proxies.timeouts).hasSize(2);
	}

	@Test
	void aDeadlineThatPassesAfterTheBodyIsATimeout() {
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			Object result = invocation.proceed();
			late();
			return result;
		});
		timeoutOf(() -> service.call(() -> "commit"));
	}

	@Test
	void aBodyDoesNotBeginPastItsDeadline() {
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			late();
			return invocation.proceed();
		});
		timeoutOf(() -> service.call(() -> {
			throw new AssertionError("begun");
		}));
	}

	/**
	 * The interrupt of other code, from before the call or from before the deadline.
	 */
	@ParameterizedTest
	@CsvSource({ "before the call, stays", "in the body, stays", "before the call, cleared by the body",
			"in the body, cleared by the body" })
	void anInterruptFromBeforeTheDeadlineStaysUnlessTheBodyClearsIt(String when, String fate) throws Exception {
		boolean stays = fate.equals("stays");
		for (long outer : List.of(900, 5_000)) {
			if (when.equals("before the call")) {
				Thread.currentThread().interrupt();
			}
			timeoutOf(() -> this.service.within(outer, () -> this.service.call(() -> {
				if (when.equals("in the body")) {
					Thread.currentThread().interrupt();
				}
				assertThat(stays || Thread.interrupted()).isTrue();
				this.time.advance(Duration.ofSeconds(1));
				return null;
			})));
			assertThat(Thread.interrupted()).isEqualTo(stays);
		}
		Thread.currentThread().interrupt();
		assertThat(this.service.call(() -> "in time")).isEqualTo("in time");
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void anOuterCallThatHasTimeLeftGetsTheInnerTimeoutWithoutAnInterrupt() throws Exception {
		assertThat((MethodTimeoutException) this.service.within(5_000, () -> {
			MethodTimeoutException inner = timeoutOf(() -> this.service.call(this::late));
			assertThat(isInterrupted()).isFalse();
			return inner;
		})).satisfies((inner) -> assertThat(inner.getTimeout()).isEqualTo(LIMIT))
			.satisfies((inner) -> assertThat(Proxies.suppressed(inner)).isEmpty());
		timeoutOf(() -> this.service.within(5_000, () -> this.service.call(this::late)));
		assertThat(this.proxies.timeouts).hasSize(2);
	}

	@Test
	void theInterruptOfAnOuterCallReachesTheInnerBodyAndLastsUntilTheOuterCallReturns() {
		MethodTimeoutException timeout = timeoutOf(() -> this.service.within(100, () -> {
			assertThat(this.service.call(() -> {
				this.time.advance(Duration.ofMillis(100));
				return isInterrupted();
			})).isEqualTo(true);
			assertThat(isInterrupted()).isTrue();
			return null;
		}));
		assertThat(timeout.getTimeout()).hasMillis(100);
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 800, 900 })
	void ifBothCallsExpireTheInnerExceptionHasTheOuterOneSuppressed(long outer) {
		MethodTimeoutException timeout = timeoutOf(() -> this.service.within(outer, () -> this.service.call(() -> {
			this.time.advance(Duration.ofSeconds(1));
			return null;
		})));
		assertThat(timeout.getTimeout()).isEqualTo(LIMIT);
		assertThat(Proxies.suppressed(timeout)).extracting("timeout").containsExactly(Duration.ofMillis(outer));
		assertThat(this.proxies.timeouts).hasSize(2);
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 800, 900 })
	void anOuterCallThatHasExpiredIsInterruptedAgain(long outer) {
		MethodTimeoutException timeout = timeoutOf(() -> this.service.within(outer, () -> {
			timeoutOf(() -> this.service.call(() -> {
				this.time.advance(Duration.ofSeconds(1));
				// The outer call must be interrupted even if the inner body cleared the
				// flag.
				assertThat(Thread.interrupted()).isTrue();
				return null;
			}));
			Thread.sleep(1);
			return null;
		}));
		assertThat(timeout.getTimeout()).hasMillis(outer);
		assertThat(Proxies.suppressed(timeout)).singleElement().isInstanceOf(InterruptedException.class);
	}

	@Test
	void nestedCallsOfOneMethodEndTheirOwnTimers() {
		assertThat(timeoutOf(() -> this.service.within(3_000, () -> {
			this.service.within(2_000, () -> {
				this.service.within(1_000, () -> null);
				assertThat(this.proxies.wheel.pending()).isEqualTo(2);
				return null;
			});
			assertThat(this.proxies.wheel.pending()).isEqualTo(1);
			this.time.advance(Duration.ofSeconds(3));
			return null;
		})).getTimeout()).hasSeconds(3);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "banana")
	@ValueSource(doubles = Double.NaN)
	void anExpressionThatGivesNoDurationFailsAsAnIllegalArgument(Object limit) {
		assertThatIllegalArgumentException().isThrownBy(() -> this.service.unreached(limit))
			.withMessageStartingWith("The expression \"#limit\" of @Timeout(timeoutExpression) on "
					+ Service.class.getName() + "#unreached(Object) gives no duration: ");
	}

	@Test
	void anExpressionThatLeavesNoTimeIsATimeout() {
		timeoutOf(() -> this.service.unreached(0));
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void aFullWheelRejectsTheCall() {
		Proxies full = new Proxies(TimingWheel.builder(Runnable::run).maxPending(1), true);
		full.wheel.schedule(() -> {
		}, Duration.ofDays(1));
		assertThatExceptionOfType(TaskRejectedException.class)
			.isThrownBy(() -> full.proxy(new Service()).call(() -> "begun"))
			.withMessageStartingWith("No timer for the @Timeout of this call");
	}

	@Test
	void workDuringShutdownHasNoLimit() throws Exception {
		this.proxies.wheel.stop();
		assertThat(this.service.call(() -> "done")).isEqualTo("done");
	}

	@Test
	void aListenerThatFailsDoesNotHideTheTimeout() {
		this.proxies.listener = (method) -> {
			throw new IllegalStateException();
		};
		timeoutOf(() -> this.service.call(this::late));
	}

	@Test
	void theCallerGetsTheResultOfTheFallback() throws Exception {
		assertThat(this.withFallback.plain("tea", this::late)).isEqualTo("instead of tea");
		assertThat(this.proxies.timeouts).hasSize(1);
		assertThat(this.fallbacks.calls).containsExactly(Thread.currentThread());
		assertThat(this.fallbacks.interrupted).isFalse();
	}

	@Test
	void theFallbackIsNotCalledIfTheMethodReturnsOrFailsInTime() throws Exception {
		assertThat(this.withFallback.plain("tea", () -> "in time")).isEqualTo("in time");
		IllegalStateException failure = new IllegalStateException();
		assertThatIllegalStateException().isThrownBy(() -> this.withFallback.plain("tea", () -> {
			throw failure;
		})).isSameAs(failure);
		assertThat(this.fallbacks.calls).isEmpty();
	}

	@Test
	void theFallbackThatTakesTheExceptionIsPreferredAndMayBeStaticOrInherited() throws Exception {
		assertThat(this.withFallback.overloaded("tea", this::late)).isEqualTo("after 800 ms");
		assertThat(this.withFallback.ofClass(this::late)).isEqualTo("static");
		assertThat(this.withFallback.inherited(this::late)).isEqualTo("inherited");
	}

	@Test
	void aCallWithoutTimeLeftGetsTheResultOfTheFallback() {
		assertThat(this.withFallback.budget(0)).isEqualTo("nothing left of 0");
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void anExceptionOfTheFallbackHasTheTimeoutSuppressed() {
		assertThatIllegalStateException().isThrownBy(() -> this.withFallback.failing(this::late))
			.withMessage("the fallback failed")
			.satisfies(
					(ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(MethodTimeoutException.class));
		assertThat(Proxies.suppressed(timeoutOf(() -> this.withFallback.rethrowing(this::late)))).isEmpty();
	}

	@Test
	void theTimeoutOfAnInnerCallIsNoTimeoutOfTheOuterCall() throws Exception {
		timeoutOf(() -> this.withFallback.outer(() -> this.withFallback.rethrowing(this::late)));
		assertThat(this.withFallback.outer(() -> this.withFallback.plain("tea", this::late)))
			.isEqualTo("instead of tea");
		assertThat(this.withFallback.outer(() -> this.withFallback.plain("tea", () -> {
			this.time.advance(Duration.ofSeconds(10));
			return "late";
		}))).isEqualTo("outer");
	}

	@Test
	void aMethodThatBlocksBeforeItReturnsItsFutureGivesTheFutureOfTheFallback() {
		assertThat(this.withFallback.blockingFuture(this::late)).isSameAs(this.fallbacks.later);
	}

	static class Service {

		@Timeout("800ms")
		public Object call(Callable<?> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit")
		public Object within(long limit, Callable<?> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit")
		public void unreached(Object limit) {
			throw new AssertionError("begun");
		}

	}

	static class Base<T> {

		String inheritedFallback(T body) {
			return "inherited";
		}

	}

	static class WithFallback extends Base<Callable<String>> {

		final List<Thread> calls = new ArrayList<>();

		final CompletableFuture<String> later = new CompletableFuture<>();

		boolean interrupted;

		@Timeout(timeout = "800ms", fallback = "plainFallback")
		public String plain(String item, Callable<String> body) throws Exception {
			return body.call();
		}

		private String plainFallback(String item, Callable<String> body) {
			this.calls.add(Thread.currentThread());
			this.interrupted = Thread.currentThread().isInterrupted();
			return "instead of " + item;
		}

		@Timeout(timeout = "800ms", fallback = "overload")
		public Object overloaded(String item, Callable<String> body) throws Exception {
			return body.call();
		}

		String overload(String item, Callable<String> body) {
			return "without";
		}

		String overload(String item, Callable<String> body, MethodTimeoutException timeout) {
			return "after %d ms".formatted(timeout.getTimeout().toMillis());
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

		@Timeout(timeout = "5s", fallback = "outerFallback")
		public String outer(Callable<String> body) throws Exception {
			return body.call();
		}

		String outerFallback(Callable<String> body) {
			return "outer";
		}

		@Timeout(timeout = "800ms", fallback = "blockingFallback")
		public CompletableFuture<String> blockingFuture(Supplier<String> body) {
			body.get();
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> blockingFallback(Supplier<String> body) {
			return this.later;
		}

	}

}
