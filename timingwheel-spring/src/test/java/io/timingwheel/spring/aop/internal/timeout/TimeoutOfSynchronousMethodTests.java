package io.timingwheel.spring.aop.internal.timeout;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
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
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Synchronous methods in virtual time. The bodies advance the time, which runs the wheel
 * on their own thread, so each interrupt arrives at a known point of the body.
 */
class TimeoutOfSynchronousMethodTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final Proxies proxies = new Proxies(this.wheel, Runnable::run);

	private final Service service = this.proxies.proxy(new Service());

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void methodsOfAnyReturnTypeRunOnTheThreadOfTheirCaller() {
		assertThat(this.service.number()).isEqualTo(Thread.currentThread().getId());
		assertThat(this.service.optional()).contains(Thread.currentThread());
		assertThat(this.service.<Object>generic(() -> List.of(Thread.currentThread())))
			.isEqualTo(List.of(Thread.currentThread()));
		assertThat(this.service.<Object>generic(() -> null)).isNull();
		AtomicReference<Thread> thread = new AtomicReference<>();
		this.service.nothing(() -> thread.set(Thread.currentThread()));
		assertThat(thread).hasValue(Thread.currentThread());
	}

	@Test
	void exceptionsOfTheBodyReachTheCallerUnchanged() {
		IOException checked = new IOException();
		assertThat(catchThrowable(() -> this.service.call(() -> {
			throw checked;
		}))).isSameAs(checked).hasNoSuppressedExceptions();
		Error error = new AssertionError();
		assertThat(catchThrowable(() -> this.service.call(() -> {
			throw error;
		}))).isSameAs(error);
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void isNotInterruptedBeforeTheDeadline() throws Exception {
		assertThat(this.service.call(() -> {
			this.time.advance(LIMIT.minusNanos(1));
			return Thread.currentThread().isInterrupted();
		})).isEqualTo(false);
	}

	@Test
	void isInterruptedAtTheDeadlineAndTheLateResultIsDiscarded() {
		AtomicReference<Boolean> interrupted = new AtomicReference<>();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
			this.time.advance(LIMIT);
			interrupted.set(Thread.currentThread().isInterrupted());
			return "late";
		}))
			.withMessage(Service.class.getName() + ".call did not finish within 800ms")
			.withCauseExactlyInstanceOf(TimeoutException.class)
			.satisfies((ex) -> {
				assertThat(ex.getMethod()).isEqualTo(Service.class.getMethod("call", Callable.class));
				assertThat(ex.getTimeout()).isEqualTo(LIMIT);
				assertThat(Proxies.suppressed(ex)).isEmpty();
				assertThat(this.proxies.timeouts).containsExactly(ex.getMethod());
			});
		assertThat(interrupted).hasValue(true);
	}

	@Test
	void theExceptionOfTheInterruptedBodyIsSuppressed() {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
			this.time.advance(LIMIT);
			Thread.sleep(1);
			return "unreached";
		}))
			.satisfies((ex) -> assertThat(Proxies.suppressed(ex)).singleElement()
				.isInstanceOf(InterruptedException.class));
	}

	@Test
	void theInterruptIsClearedEvenIfTheBodyRestoredIt() {
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
			this.time.advance(LIMIT);
			assertThat(Thread.interrupted()).isTrue();
			Thread.currentThread().interrupt();
			return null;
		}));
	}

	@Test
	void theInterruptIsClearedBeforeTheAdviceAroundTheBodySeesTheTimeout() {
		AtomicReference<Throwable> seen = new AtomicReference<>();
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			try {
				return invocation.proceed();
			}
			catch (Throwable ex) {
				assertThat(Thread.currentThread().isInterrupted()).isFalse();
				seen.set(ex);
				throw ex;
			}
		});
		Throwable thrown = catchThrowable(() -> service.call(() -> {
			this.time.advance(LIMIT);
			return null;
		}));
		assertThat(thrown).isExactlyInstanceOf(MethodTimeoutException.class);
		assertThat(Proxies.suppressed(thrown)).isEmpty();
		assertThat(seen).hasValue(thrown);
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void anExceptionThatReplacesTheTimeoutIsSuppressed() {
		IllegalStateException replacement = new IllegalStateException("rollback failed");
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			try {
				return invocation.proceed();
			}
			catch (MethodTimeoutException ex) {
				throw replacement;
			}
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> service.call(() -> {
			this.time.advance(LIMIT);
			return null;
		})).satisfies((ex) -> assertThat(Proxies.suppressed(ex)).containsExactly(replacement));
	}

	@Test
	void aDeadlineThatPassesAfterTheBodyIsATimeout() {
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			Object result = invocation.proceed();
			this.time.advance(LIMIT);
			return result;
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> service.call(() -> "commit"));
	}

	@Test
	void aBodyDoesNotBeginPastItsDeadline() {
		AtomicReference<Boolean> begun = new AtomicReference<>(false);
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			this.time.advance(LIMIT);
			return invocation.proceed();
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> service.call(() -> {
			begun.set(true);
			return null;
		}));
		assertThat(begun).hasValue(false);
	}

	/**
	 * The interrupt of other code, from before the call or from before the deadline.
	 */
	@ParameterizedTest
	@CsvSource({ "before the call, stays", "in the body, stays", "before the call, cleared by the body",
			"in the body, cleared by the body" })
	void anInterruptFromBeforeTheDeadlineStaysUnlessTheBodyClearsIt(String when, String fate) throws Exception {
		boolean stays = fate.equals("stays");
		for (Duration outer : List.of(Duration.ofMillis(900), Duration.ofSeconds(5))) {
			if (when.equals("before the call")) {
				Thread.currentThread().interrupt();
			}
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> this.service.within(outer, () -> this.service.call(() -> {
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
	void anInnerTimeoutPassesThroughAnOuterCallThatHasTimeLeft() {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.within(Duration.ofSeconds(5), () -> this.service.call(() -> {
				this.time.advance(LIMIT);
				return null;
			})))
			.satisfies((ex) -> {
				assertThat(ex.getTimeout()).isEqualTo(LIMIT);
				assertThat(Proxies.suppressed(ex)).isEmpty();
			});
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void anOuterCallThatHasTimeLeftMayHandleAnInnerTimeout() throws Exception {
		assertThat(this.service.within(Duration.ofSeconds(5), () -> {
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
				this.time.advance(LIMIT);
				return null;
			}));
			return Thread.currentThread().isInterrupted();
		})).isEqualTo(false);
	}

	@Test
	void theInterruptOfAnOuterCallReachesTheInnerBodyAndLastsUntilTheOuterCallReturns() {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.within(Duration.ofMillis(100), () -> {
				assertThat(this.service.call(() -> {
					this.time.advance(Duration.ofMillis(100));
					return Thread.currentThread().isInterrupted();
				})).isEqualTo(true);
				assertThat(Thread.currentThread().isInterrupted()).isTrue();
				return null;
			}))
			.satisfies((ex) -> assertThat(ex.getTimeout()).hasMillis(100));
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 800, 900 })
	void ifBothCallsExpireTheInnerExceptionHasTheOuterOneSuppressed(long outerMillis) {
		Duration outer = Duration.ofMillis(outerMillis);
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.within(outer, () -> this.service.call(() -> {
				this.time.advance(Duration.ofSeconds(1));
				return null;
			})))
			.satisfies((ex) -> {
				assertThat(ex.getTimeout()).isEqualTo(LIMIT);
				assertThat(Proxies.suppressed(ex)).singleElement()
					.satisfies((suppressed) -> assertThat(((MethodTimeoutException) suppressed).getTimeout())
						.isEqualTo(outer));
			});
		assertThat(this.proxies.timeouts).hasSize(2);
	}

	@ParameterizedTest
	@ValueSource(longs = { 100, 800, 900 })
	void anOuterCallThatHasExpiredIsInterruptedAgain(long outerMillis) {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.within(Duration.ofMillis(outerMillis), () -> {
				assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
					this.time.advance(Duration.ofSeconds(1));
					// The outer call must be interrupted even if the inner body cleared
					// the flag.
					assertThat(Thread.interrupted()).isTrue();
					return null;
				}));
				Thread.sleep(1);
				return null;
			}))
			.satisfies((ex) -> {
				assertThat(ex.getTimeout()).hasMillis(outerMillis);
				assertThat(Proxies.suppressed(ex)).singleElement().isInstanceOf(InterruptedException.class);
			});
	}

	@Test
	void nestedCallsOfOneMethodEndTheirOwnTimers() {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.within(Duration.ofSeconds(3), () -> {
				this.service.within(Duration.ofSeconds(2), () -> {
					this.service.within(Duration.ofSeconds(1), () -> null);
					assertThat(this.wheel.pending()).isEqualTo(2);
					return null;
				});
				assertThat(this.wheel.pending()).isEqualTo(1);
				this.time.advance(Duration.ofSeconds(3));
				return null;
			}))
			.satisfies((ex) -> assertThat(ex.getTimeout()).hasSeconds(3));
	}

	@Test
	void theExpressionGivesTheLimitOfEachCall() {
		assertThat(this.service.limitedBy("5s", () -> {
			this.time.advance(Duration.ofSeconds(4));
			return "in time";
		})).isEqualTo("in time");
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.limitedBy(50, () -> {
			this.time.advance(Duration.ofMillis(50));
			return "late";
		}));
	}

	@ParameterizedTest
	@NullSource
	@ValueSource(strings = "banana")
	@ValueSource(doubles = Double.NaN)
	void anExpressionThatGivesNoDurationFailsAsAnIllegalArgument(Object limit) {
		AtomicReference<Boolean> begun = new AtomicReference<>(false);
		assertThatIllegalArgumentException().isThrownBy(() -> this.service.limitedBy(limit, () -> {
			begun.set(true);
			return null;
		}))
			.withMessageStartingWith("The expression \"#limit\" of @Timeout(timeoutExpression) on "
					+ Service.class.getName() + "#limitedBy(Object, Supplier) gives no duration: ");
		assertThat(begun).hasValue(false);
	}

	@Test
	void anExpressionThatLeavesNoTimeIsATimeout() {
		AtomicReference<Boolean> begun = new AtomicReference<>(false);
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.limitedBy(0, () -> {
			begun.set(true);
			return null;
		}));
		assertThat(begun).hasValue(false);
		assertThat(this.proxies.timeouts).hasSize(1);
	}

	@Test
	void aFullWheelRejectsTheCall() {
		TimingWheel full = TimingWheel.builder(Runnable::run).timeSource(this.time).maxPending(1).build();
		full.schedule(() -> {
		}, Duration.ofDays(1));
		Service service = new Proxies(full, Runnable::run).proxy(new Service());
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> service.call(() -> "begun"))
			.withMessageStartingWith("No timer for the @Timeout of this call");
	}

	@Test
	void workDuringShutdownHasNoLimit() throws Exception {
		this.wheel.stop();
		assertThat(this.service.call(() -> "done")).isEqualTo("done");
	}

	@Test
	void aListenerThatFailsDoesNotHideTheTimeout() {
		this.proxies.listener = (method) -> {
			throw new IllegalStateException();
		};
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
			this.time.advance(LIMIT);
			return null;
		}));
	}

	static class Service {

		@Timeout("800ms")
		public <T> T call(Callable<T> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit")
		public <T> T within(Duration limit, Callable<T> body) throws Exception {
			return body.call();
		}

		@Timeout(timeoutExpression = "#limit")
		public Object limitedBy(Object limit, Supplier<?> body) {
			return body.get();
		}

		@Timeout("1s")
		public void nothing(Runnable body) {
			body.run();
		}

		@Timeout("1s")
		public long number() {
			return Thread.currentThread().getId();
		}

		@Timeout("1s")
		public Optional<Thread> optional() {
			return Optional.of(Thread.currentThread());
		}

		@Timeout("1s")
		public <T> T generic(Supplier<T> body) {
			return body.get();
		}

	}

}
