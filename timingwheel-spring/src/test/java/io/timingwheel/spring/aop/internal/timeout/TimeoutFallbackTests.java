package io.timingwheel.spring.aop.internal.timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Fallbacks of calls that block, in virtual time.
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
	void aMethodThatBlocksBeforeItReturnsItsFutureGivesTheFutureOfTheFallback() {
		assertThat(this.service.blockingFuture(() -> this.time.advance(LIMIT))).isSameAs(this.target.later);
		assertThat(this.wheel.pending()).isZero();
	}

	private String late() {
		this.time.advance(LIMIT);
		return "late";
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

		@Timeout(timeout = "800ms", fallback = "blockingFallback")
		public CompletableFuture<String> blockingFuture(Runnable body) {
			body.run();
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> blockingFallback(Runnable body) {
			return this.later;
		}

	}

}
