package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.test.context.junit.jupiter.SpringJUnitConfig;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/** Calls that block on the real clock. */
@org.junit.jupiter.api.Timeout(60)
@SpringJUnitConfig(TimeoutOfBlockingCallTests.Service.class)
@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, TimingWheelAutoConfiguration.class })
class TimeoutOfBlockingCallTests {

	private static final long LIMIT_MILLIS = 30;

	@Autowired
	private TimingWheel wheel;

	@Autowired
	private Service service;

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		// The driver counts a timer as fired after it has run its task.
		await().until(() -> this.wheel.pending() == 0);
	}

	private static Object sleep() throws InterruptedException {
		TimeUnit.MINUTES.sleep(1);
		return "late";
	}

	@Test
	@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "There are no virtual threads before Java 21")
	void interruptsAVirtualThreadAndShowsItsStack() throws Exception {
		// By reflection, because the method exists since Java 21.
		ExecutorService threads = (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor")
			.invoke(null);
		Future<Boolean> interruptedAfterwards = threads.submit(() -> {
			assertThatExceptionOfType(MethodTimeoutException.class)
				.isThrownBy(() -> this.service.call(TimeoutOfBlockingCallTests::sleep))
				.satisfies((timeout) -> assertThat(timeout.getSuppressed())
					.anyMatch((stack) -> isStack(stack) && stack.getStackTrace().length > 0));
			return Thread.interrupted();
		});
		threads.shutdown();
		assertThat(interruptedAfterwards.get()).isFalse();
	}

	@Test
	void theReturningThreadWaitsForAnInterruptThatIsBeingSent() throws Exception {
		CountDownLatch interrupting = new CountDownLatch(1);
		CountDownLatch interrupt = new CountDownLatch(1);
		AtomicBoolean returned = new AtomicBoolean();
		FutureTask<Boolean> call = new FutureTask<>(() -> {
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.call(() -> {
				interrupting.await();
				return "late";
			})).satisfies((ex) -> assertThat(ex.getSuppressed()).allMatch(TimeoutOfBlockingCallTests::isStack));
			returned.set(true);
			return Thread.currentThread().isInterrupted();
		});
		Thread caller = new Thread(call) {
			@Override
			public void interrupt() {
				interrupting.countDown();
				try {
					interrupt.await();
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
				super.interrupt();
			}
		};
		caller.start();
		interrupting.await();
		await().during(Duration.ofMillis(50)).untilFalse(returned);
		interrupt.countDown();
		assertThat(call.get()).isFalse();
	}

	@Test
	void theTimeoutShowsWhereTheCallWasAtTheDeadline() {
		// A thread that stalls may not be in the method yet.
		await().pollInSameThread().untilAsserted(this::assertTheTimeoutShowsWhereTheCallWas);
	}

	private void assertTheTimeoutShowsWhereTheCallWas() {
		assertThatExceptionOfType(MethodTimeoutException.class)
			.isThrownBy(() -> this.service.call(this::ignoreInterrupts))
			.satisfies((ex) -> {
				assertThat(ex.getSuppressed()).singleElement()
					.satisfies((stack) -> assertThat(stack)
						.hasMessage("Thread \"%s\" at the deadline".formatted(Thread.currentThread().getName())))
					.satisfies((stack) -> assertThat(stack.getStackTrace())
						.anyMatch((frame) -> frame.getMethodName().equals("ignoreInterrupts")));
				assertThat(ex.getStackTrace()).noneMatch((frame) -> frame.getMethodName().equals("ignoreInterrupts"));
			});
	}

	private Object ignoreInterrupts() {
		while (!Thread.currentThread().isInterrupted()) {
			Thread.onSpinWait();
		}
		return "late";
	}

	@Test
	void manyCallsThatExpireAtOnceAreAllInterruptedAndTheFirstShowTheirStack() {
		List<CompletableFuture<MethodTimeoutException>> timeouts = Stream.generate(this::timeoutOnItsOwnThread)
			.limit(300)
			.toList();
		assertThat(timeouts).allSatisfy((timeout) -> assertThat(timeout.get()).isNotNull())
			.anySatisfy((timeout) -> assertThat(timeout.get().getSuppressed())
				.anyMatch(TimeoutOfBlockingCallTests::isStack));
	}

	private CompletableFuture<MethodTimeoutException> timeoutOnItsOwnThread() {
		return CompletableFuture.supplyAsync(() -> {
			MethodTimeoutException timeout = catchThrowableOfType(MethodTimeoutException.class,
					() -> this.service.second(new LinkedBlockingQueue<>()::take));
			assertThat(Thread.currentThread().isInterrupted()).isFalse();
			return timeout;
		}, (task) -> new Thread(task).start());
	}

	private static boolean isStack(Throwable suppressed) {
		return suppressed.getClass().getSimpleName().equals("StackAtDeadline");
	}

	static class Service {

		@Timeout("" + LIMIT_MILLIS)
		public Object call(Callable<?> body) throws Exception {
			return body.call();
		}

		@Timeout("1s")
		public Object second(Callable<?> body) throws Exception {
			return body.call();
		}

	}

}
