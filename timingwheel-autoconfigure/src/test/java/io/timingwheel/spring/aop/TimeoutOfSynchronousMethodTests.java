package io.timingwheel.spring.aop;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.internal.TimeoutMethodRegistry;
import org.aopalliance.intercept.MethodInterceptor;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aop.framework.Advised;
import org.springframework.context.annotation.Scope;
import org.springframework.core.task.TaskRejectedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Synchronous methods, and their fallbacks, in virtual time. */
class TimeoutOfSynchronousMethodTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class).with("timingwheel.tick=1ns");

	private final Service service = app.bean(Service.class);

	@BeforeAll
	static void noteTimeouts(TimeoutMethodRegistry methods) {
		methods.onTimeout((method) -> app.calls().add("timeout"));
	}

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(app.timers()).isZero();
		assertThat(Thread.interrupted()).isFalse();
	}

	private static MethodTimeoutException timeoutOf(ThrowingCallable call) {
		Throwable thrown = catchThrowable(call);
		assertThat(thrown).isExactlyInstanceOf(MethodTimeoutException.class);
		return (MethodTimeoutException) thrown;
	}

	private String late() {
		app.advance(LIMIT);
		return "late";
	}

	/** What a timeout has suppressed, without the stack at the deadline. */
	private static List<Throwable> suppressed(Throwable timeout) {
		return Arrays.stream(timeout.getSuppressed())
			.filter((ex) -> !ex.getClass().getSimpleName().equals("StackAtDeadline"))
			.toList();
	}

	/** A bean with advice between the limit and the body. */
	private static Service between(MethodInterceptor advice) {
		Service service = app.bean(Service.class);
		Advised proxy = (Advised) service;
		proxy.addAdvice(proxy.getAdvisorCount() - 1, advice);
		return service;
	}

	private static boolean isInterrupted() {
		return Thread.currentThread().isInterrupted();
	}

	@Test
	void aCallInTimeIsUnchanged() throws Exception {
		assertThat(this.service.call(() -> {
			app.advance(LIMIT.minusNanos(1));
			assertThat(isInterrupted()).isFalse();
			return Thread.currentThread();
		})).isEqualTo(Thread.currentThread());
		IOException failure = new IOException();
		assertThat(catchThrowable(() -> this.service.call(() -> {
			throw failure;
		}))).isSameAs(failure).hasNoSuppressedExceptions();
		assertThat(app.calls()).isEmpty();
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
		assertThat(suppressed(timeout)).isEmpty();
		assertThat(app.calls()).containsExactly("timeout");
	}

	@Test
	void theExceptionOfTheInterruptedBodyIsSuppressed() {
		assertThat(suppressed(timeoutOf(() -> this.service.call(() -> {
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
			Service service = between((invocation) -> {
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
			assertThat(suppressed(timeout)).isEqualTo(replaces ? List.of(replacement) : List.of());
		}
		assertThat(app.calls()).containsExactly("timeout", "timeout");
	}

	@Test
	void aDeadlineThatPassesAfterTheBodyIsATimeoutAndCancelsAFuture() {
		CompletableFuture<String> future = new CompletableFuture<>();
		Service service = between((invocation) -> {
			Object result = invocation.proceed();
			late();
			return result;
		});
		timeoutOf(() -> service.call(() -> "commit"));
		timeoutOf(() -> service.call(() -> future));
		assertThat(future).isCancelled();
	}

	@Test
	void aBodyDoesNotBeginPastItsDeadline() {
		Service service = between((invocation) -> {
			late();
			return invocation.proceed();
		});
		timeoutOf(() -> service.call(() -> {
			throw new AssertionError("begun");
		}));
	}

	/** The interrupt of other code, from before the call or from before the deadline. */
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
				app.advance(Duration.ofSeconds(1));
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
			.satisfies((inner) -> assertThat(suppressed(inner)).isEmpty());
		timeoutOf(() -> this.service.within(5_000, () -> this.service.call(this::late)));
		assertThat(app.calls()).containsExactly("timeout", "timeout");
	}

	@Test
	void theInterruptOfAnOuterCallReachesTheInnerBodyAndLastsUntilTheOuterCallReturns() {
		MethodTimeoutException timeout = timeoutOf(() -> this.service.within(100, () -> {
			assertThat(this.service.call(() -> {
				app.advance(Duration.ofMillis(100));
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
			app.advance(Duration.ofSeconds(1));
			return null;
		})));
		assertThat(timeout.getTimeout()).isEqualTo(LIMIT);
		assertThat(suppressed(timeout)).extracting("timeout").containsExactly(Duration.ofMillis(outer));
		assertThat(app.calls()).containsExactly("timeout", "timeout");
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 800, 900 })
	void anOuterCallThatHasExpiredIsInterruptedAgain(long outer) {
		MethodTimeoutException timeout = timeoutOf(() -> this.service.within(outer, () -> {
			timeoutOf(() -> this.service.call(() -> {
				app.advance(Duration.ofSeconds(1));
				// The outer call must be interrupted even if the inner body cleared the
				// flag.
				assertThat(Thread.interrupted()).isTrue();
				return null;
			}));
			Thread.sleep(1);
			return null;
		}));
		assertThat(timeout.getTimeout()).hasMillis(outer);
		assertThat(suppressed(timeout)).singleElement().isInstanceOf(InterruptedException.class);
	}

	@Test
	void nestedCallsOfOneMethodEndTheirOwnTimers() {
		assertThat(timeoutOf(() -> this.service.within(3_000, () -> {
			this.service.within(2_000, () -> {
				this.service.within(1_000, () -> null);
				assertThat(app.timers()).isEqualTo(2);
				return null;
			});
			assertThat(app.timers()).isEqualTo(1);
			app.advance(Duration.ofSeconds(3));
			return null;
		})).getTimeout()).hasSeconds(3);
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "banana")
	@ValueSource(doubles = Double.NaN)
	void anExpressionThatGivesNoDurationFailsAsAnIllegalArgument(Object limit) {
		assertThatIllegalArgumentException().isThrownBy(() -> orElseFail(limit, this::late))
			.withMessageStartingWith("The expression \"#limit\" of @Timeout(timeoutExpression) on "
					+ Service.class.getName() + "#orElse(Object, Callable, Function) gives no duration: ");
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, -1 })
	void anExpressionThatLeavesNoTimeIsATimeout(int limit) throws Exception {
		assertThat(this.service.orElse(limit, () -> {
			throw new AssertionError("begun");
		}, (timeout) -> "nothing left")).isEqualTo("nothing left");
		assertThat(app.calls()).containsExactly("timeout");
	}

	@Test
	void aFullWheelRejectsTheCall() {
		try (VirtualApplication full = VirtualApplication.of(Service.class).with("timingwheel.max-pending=1")) {
			full.tasks().schedule(Duration.ofDays(1), () -> {
			});
			assertThatExceptionOfType(TaskRejectedException.class)
				.isThrownBy(() -> full.bean(Service.class).call(() -> "begun"))
				.withMessageStartingWith("No timer for the @Timeout of this call");
		}
	}

	@Test
	void workDuringShutdownHasNoLimit() throws Exception {
		try (VirtualApplication stopping = VirtualApplication.of(Service.class)) {
			stopping.bean(TimingWheel.class).stop();
			assertThat(stopping.bean(Service.class).call(() -> "done")).isEqualTo("done");
		}
	}

	@Test
	void aListenerThatFailsDoesNotHideTheTimeout() {
		try (VirtualApplication application = VirtualApplication.of(Service.class)) {
			application.bean(TimeoutMethodRegistry.class).onTimeout((method) -> {
				throw new IllegalStateException();
			});
			timeoutOf(() -> application.bean(Service.class).call(() -> {
				application.advance(LIMIT);
				return "late";
			}));
		}
	}

	@Test
	void theCallerGetsTheResultOfTheFallback() throws Exception {
		assertThat(this.service.orElse(800, this::late, (timeout) -> {
			assertThat(timeout.getTimeout()).isEqualTo(LIMIT);
			assertThat(isInterrupted()).isFalse();
			return Thread.currentThread();
		})).isEqualTo(Thread.currentThread());
		assertThat(this.service.orStatic(this::late)).isEqualTo("static");
		assertThat(this.service.orInherited(this::late)).isEqualTo("inherited");
		assertThat(app.calls()).containsExactly("timeout", "timeout", "timeout");
	}

	@Test
	void theFallbackIsNotCalledIfTheMethodReturnsOrFailsInTime() throws Exception {
		assertThat(orElseFail(800, () -> "in time")).isEqualTo("in time");
		IOException failure = new IOException();
		assertThat(catchThrowable(() -> orElseFail(800, () -> {
			throw failure;
		}))).isSameAs(failure);
	}

	private Object orElseFail(Object limit, Callable<?> body) throws Exception {
		return this.service.orElse(limit, body, (timeout) -> {
			throw new IllegalStateException("the fallback failed");
		});
	}

	@Test
	void anExceptionOfTheFallbackHasTheTimeoutSuppressed() {
		assertThatIllegalStateException().isThrownBy(() -> orElseFail(800, this::late))
			.withMessage("the fallback failed")
			.satisfies(
					(ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(MethodTimeoutException.class));
		assertThat(suppressed(timeoutOf(() -> orElseRethrow(this::late)))).isEmpty();
	}

	private Object orElseRethrow(Callable<?> body) throws Exception {
		return this.service.orElse(800, body, (timeout) -> {
			throw timeout;
		});
	}

	@Test
	void theTimeoutOfAnInnerCallIsNoTimeoutOfTheOuterCall() throws Exception {
		timeoutOf(() -> orElseFail(5_000, () -> orElseRethrow(this::late)));
		assertThat(orElseFail(5_000, () -> this.service.orStatic(this::late))).isEqualTo("static");
		assertThat(this.service.orElse(5_000, () -> this.service.orStatic(() -> {
			app.advance(Duration.ofSeconds(10));
			return "late";
		}), (timeout) -> "outer")).isEqualTo("outer");
	}

	static class Base<T> {

		String inherited(T body) {
			return "inherited";
		}

	}

	/** Each test may add advice to its own bean. */
	@Scope("prototype")
	static class Service extends Base<Callable<String>> {

		@Timeout("800ms")
		public Object call(Callable<?> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit")
		public Object within(long limit, Callable<?> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit", fallback = "instead")
		public Object orElse(Object limit, Callable<?> body, Function<MethodTimeoutException, ?> fallback)
				throws Exception {
			return body.call();
		}

		private Object instead(Object limit, Callable<?> body, Function<MethodTimeoutException, ?> fallback,
				MethodTimeoutException timeout) {
			return fallback.apply(timeout);
		}

		/** Is not called, because it does not take the exception. */
		String instead(Object limit, Callable<?> body, Function<MethodTimeoutException, ?> fallback) {
			return "without the exception";
		}

		String instead(Object limit) {
			return "with other parameters";
		}

		@Timeout(timeout = "800ms", fallback = "ofClass")
		public String orStatic(Callable<String> body) throws Exception {
			return body.call();
		}

		private static String ofClass(Callable<String> body) {
			return "static";
		}

		@Timeout(timeout = "800ms", fallback = "inherited")
		public String orInherited(Callable<String> body) throws Exception {
			return body.call();
		}

	}

}
