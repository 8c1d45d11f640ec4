package io.timingwheel.spring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

/** Where and when the futures and publishers of this library complete, with real time. */
class CompletionTests {

	private static final int POOL_SIZE = 2;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class))
		.withPropertyValues("spring.task.execution.pool.core-size=" + POOL_SIZE)
		.withBean(Service.class);

	@Test
	void aCompletionDoesNotWaitForTheWorkThatItEnds() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			for (Callable<String> call : List.<Callable<String>>of(
					() -> service.future(new CompletableFuture<>()).join(),
					() -> service.mono(new CompletableFuture<>()).block())) {
				assertThat(occupy(context, call)).allSatisfy((result) -> assertFails(result, TimeoutException.class));
			}
			for (Callable<String> call : List.<Callable<String>>of(() -> service.futureOrFallback().join(),
					() -> join(service.plainOrFallback()))) {
				assertThat(occupy(context, call)).allSatisfy(
						(result) -> assertThat(result).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("fallback null"));
			}
		});
	}

	@Test
	void theResultOfADelayedCallDoesNotWaitForTheWorkThatItEnds() {
		this.runner.run((context) -> {
			FutureTask<String> inner = new FutureTask<>(() -> "result");
			Service service = context.getBean(Service.class);
			Future<String> task = service.delayed(inner);
			await().until(() -> ((DelayedTask<?>) task).status() == DelayedTask.Status.RUNNING);
			List<Future<String>> waiting = occupy(context, task::get);
			inner.run();
			assertThat(waiting)
				.allSatisfy((result) -> assertThat(result).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("result"));
		});
	}

	@Test
	void aCancelAtTheEndOfAFutureDoesNotWaitForTheCommonPool() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			FutureTask<String> payment = new FutureTask<>(() -> "paid");
			CompletableFuture<Void> release = new CompletableFuture<>();
			service.close();
			service.pay(payment);
			for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
				ForkJoinPool.commonPool().execute(release::join);
			}
			try {
				payment.run();
				await().until(() -> context.getBean(DelayedTaskRegistry.class).pendingCount() == 0);
			}
			finally {
				release.complete(null);
			}
		});
	}

	@Test
	void completionsThatWaitForEachOtherComeToAnEnd() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<Void> last = new CompletableFuture<>();
			List<CompletableFuture<?>> blocked = new ArrayList<>();
			for (int i = 0; i < 100; i++) {
				blocked.add(service.futureOfASecond().exceptionally((ex) -> {
					last.join();
					return "unblocked";
				}));
			}
			service.futureOfASecond().whenComplete((value, error) -> last.complete(null));
			assertThat(CompletableFuture.allOf(blocked.toArray(CompletableFuture[]::new))).succeedsWithin(60,
					TimeUnit.SECONDS);
			await().until(() -> completionThreads() > 100);
		});
		await().until(() -> completionThreads() == 0);
	}

	private static long completionThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("timing-wheel-completion-"))
			.count();
	}

	@Test
	void theFallbackHasTheContextOfTheCall() {
		this.runner.withBean(TaskDecorator.class, () -> CompletionTests::withMdc).run((context) -> {
			Service service = context.getBean(Service.class);
			MDC.put("order", "42");
			try {
				Mono<String> mono = service.monoOrFallback().subscribeOn(Schedulers.boundedElastic());
				for (Callable<String> call : List.<Callable<String>>of(service::syncOrFallback,
						service.futureOrFallback()::join, () -> join(service.plainOrFallback()), mono::block,
						mono::block)) {
					assertThat(call.call()).isEqualTo("fallback 42");
				}
			}
			finally {
				MDC.clear();
			}
		});
	}

	@Test
	void aResultThatComesTooLateIsNoneAlsoIfTheWheelsThreadIsLate() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<Void> release = new CompletableFuture<>();
			CountDownLatch blocked = new CountDownLatch(1);
			context.getBean(TimingWheel.class).schedule((DirectTask) () -> {
				blocked.countDown();
				release.join();
			}, 0, TimeUnit.SECONDS);
			blocked.await();
			try {
				for (ThrowingCallable call : List.<ThrowingCallable>of(() -> service.sleeping(100),
						() -> lateResult(service::future),
						() -> lateResult((source) -> service.mono(source).toFuture()))) {
					assertThatThrownBy(call).hasRootCauseInstanceOf(TimeoutException.class);
				}
			}
			finally {
				release.complete(null);
			}
		});
	}

	/**
	 * Completes a future after the limit. On a busy machine the call itself may already
	 * be too late.
	 */
	private static String lateResult(Function<CompletableFuture<String>, CompletableFuture<String>> call)
			throws InterruptedException {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = call.apply(source);
		Thread.sleep(100);
		source.complete("late");
		return result.join();
	}

	private static void assertFails(Future<?> result, Class<? extends Exception> rootCause) {
		assertThat(result).failsWithin(60, TimeUnit.SECONDS).withThrowableThat().withRootCauseInstanceOf(rootCause);
	}

	/**
	 * Lets a task wait on each thread of the application's executor. No thread is free
	 * before all tasks have ended.
	 */
	private static List<Future<String>> occupy(ApplicationContext context, Callable<String> task) {
		AsyncTaskExecutor executor = context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class);
		CountDownLatch started = new CountDownLatch(POOL_SIZE);
		CountDownLatch ended = new CountDownLatch(POOL_SIZE);
		List<Future<String>> results = new ArrayList<>();
		for (int i = 0; i < POOL_SIZE; i++) {
			results.add(executor.submit(() -> {
				started.countDown();
				started.await();
				try {
					return task.call();
				}
				finally {
					ended.countDown();
					ended.await();
				}
			}));
		}
		return results;
	}

	private static <T> T join(Future<T> future) {
		try {
			return future.get(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Runnable withMdc(Runnable task) {
		String order = MDC.get("order");
		return () -> {
			MDC.put("order", order);
			try {
				task.run();
			}
			finally {
				MDC.clear();
			}
		};
	}

	static class Service {

		@Timeout("20ms")
		public CompletableFuture<String> future(CompletableFuture<String> source) {
			return source;
		}

		/** On a busy machine a call may take 20 ms. */
		@Timeout("1s")
		public CompletableFuture<String> futureOfASecond() {
			return new CompletableFuture<>();
		}

		@Timeout("20ms")
		public Mono<String> mono(CompletableFuture<String> source) {
			return Mono.fromFuture(source);
		}

		@Timeout("20ms")
		public String sleeping(long millis) throws InterruptedException {
			Thread.sleep(millis);
			return "late";
		}

		@Timeout(timeout = "20ms", fallback = "fallback")
		public String syncOrFallback() throws InterruptedException {
			return sleeping(1_000);
		}

		private String fallback() {
			return "fallback " + MDC.get("order");
		}

		@Timeout(timeout = "20ms", fallback = "fallbackFuture")
		public CompletableFuture<String> futureOrFallback() {
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> fallbackFuture() {
			return CompletableFuture.completedFuture(fallback());
		}

		@Timeout(timeout = "20ms", fallback = "fallbackPlain")
		public Future<String> plainOrFallback() {
			return new FutureTask<>(() -> "never runs");
		}

		private Future<String> fallbackPlain() {
			FutureTask<String> result = new FutureTask<>(this::fallback);
			result.run();
			return result;
		}

		@Timeout(timeout = "20ms", fallback = "fallbackMono")
		public Mono<String> monoOrFallback() {
			return Mono.never();
		}

		private Mono<String> fallbackMono() {
			return Mono.just(fallback());
		}

		@Delayed(delay = "1h", name = "close", key = "'order'")
		public void close() {
		}

		@CancelDelayed(name = "close", key = "'order'")
		public Future<String> pay(Future<String> payment) {
			return payment;
		}

		@Delayed("0")
		public Future<String> delayed(Future<String> inner) {
			return inner;
		}

	}

}
