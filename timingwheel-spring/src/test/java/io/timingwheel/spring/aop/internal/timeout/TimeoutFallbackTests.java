package io.timingwheel.spring.aop.internal.timeout;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

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
class TimeoutFallbackTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final Proxies proxies = new Proxies();

	private final Service target = new Service();

	private final Service service = this.proxies.proxy(this.target);

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		this.proxies.assertNoTimerAndNoInterruptIsLeft();
	}

	private String late() {
		this.proxies.time.advance(LIMIT);
		return "late";
	}

	@Test
	void theCallerGetsTheResultOfTheFallback() throws Exception {
		assertThat(this.service.plain("tea", this::late)).isEqualTo("instead of tea");
		assertThat(this.proxies.timeouts).hasSize(1);
		assertThat(this.target.calls).containsExactly(Thread.currentThread());
		assertThat(this.target.interrupted).isFalse();
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
	void theFallbackThatTakesTheExceptionIsPreferredAndMayBeStaticOrInherited() throws Exception {
		assertThat(this.service.overloaded("tea", this::late)).isEqualTo("after 800 ms");
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
	void theTimeoutOfAnInnerCallIsNoTimeoutOfTheOuterCall() throws Exception {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.outer(() -> this.service.rethrowing(this::late)));
		assertThat(this.service.outer(() -> this.service.plain("tea", this::late))).isEqualTo("instead of tea");
		assertThat(this.service.outer(() -> this.service.plain("tea", () -> {
			this.proxies.time.advance(Duration.ofSeconds(10));
			return "late";
		}))).isEqualTo("outer");
	}

	@Test
	void aMethodThatBlocksBeforeItReturnsItsFutureGivesTheFutureOfTheFallback() {
		assertThat(this.service.blockingFuture(this::late)).isSameAs(this.target.later);
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
