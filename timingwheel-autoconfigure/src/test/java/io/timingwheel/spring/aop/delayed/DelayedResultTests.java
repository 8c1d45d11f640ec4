package io.timingwheel.spring.aop.delayed;

import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.AsyncConfigurer;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.awaitIdle;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

class DelayedResultTests {

	private static final Duration DELAY = Duration.ofSeconds(2);

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("service", Service.class);

	@BeforeEach
	void reset() {
		calls.clear();
	}

	@Test
	void everyKindOfFutureGivesTheResult() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			Future<String> future = service.future();
			CompletionStage<String> stage = service.stage();
			CompletableFuture<String> completable = service.completable(CompletableFuture.completedFuture("c"));
			DelayedTask<String> task = service.task();
			assertThat(task.status()).isEqualTo(Status.SCHEDULED);
			assertThat(completable).isNotDone();
			advance(context, DELAY);
			assertThat(future.get(60, TimeUnit.SECONDS)).isEqualTo("f");
			assertThat(stage.toCompletableFuture().get(60, TimeUnit.SECONDS)).isEqualTo("s");
			assertThat(completable.get(60, TimeUnit.SECONDS)).isEqualTo("c");
			assertThat(task.get(60, TimeUnit.SECONDS)).isEqualTo("t");
			assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
		});
	}

	@Test
	void aNestedFutureIsFlattenedWithoutABlockedThread() {
		this.runner.withPropertyValues("spring.task.execution.pool.core-size=1").run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<String> inner = new CompletableFuture<>();
			CompletableFuture<String> outer = service.completable(inner);
			service.run("next");
			advance(context, DELAY);
			// The only thread is free for the next task.
			await().untilAsserted(() -> assertThat(calls).containsExactly("completable", "next"));
			assertThat(outer).isNotDone();
			assertThat(counts(context, "service.completable").running()).isOne();
			inner.complete("inner");
			assertThat(outer).isCompletedWithValue("inner");
			assertThat(counts(context, "service.completable").running()).isZero();
		});
	}

	@Test
	void aNestedFutureThatCannotCallBackIsFlattenedToo() {
		this.runner.withPropertyValues("spring.task.execution.pool.core-size=1").run((context) -> {
			Service service = context.getBean(Service.class);
			FutureTask<String> inner = new FutureTask<>(() -> "inner");
			Future<String> outer = service.plain(inner);
			service.run("next");
			advance(context, DELAY);
			await().untilAsserted(() -> assertThat(calls).containsExactly("plain", "next"));
			assertThat(outer).isNotDone();
			inner.run();
			assertThat(outer.get(60, TimeUnit.SECONDS)).isEqualTo("inner");
		});
	}

	@Test
	void theExceptionOfANestedFutureIsTheException() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			CompletableFuture<String> outer = service
				.completable(CompletableFuture.<String>failedFuture(new IllegalStateException("inner"))
					.thenApply((value) -> value));
			advanceAndAwait(context, DELAY);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> outer.get(60, TimeUnit.SECONDS))
				.withCauseInstanceOf(IllegalStateException.class)
				.withStackTraceContaining("inner");
			assertThat(counts(context, "service.completable").failed()).isOne();
		});
	}

	@Test
	void aNullFutureGivesNull() {
		this.runner.run((context) -> {
			CompletableFuture<String> outer = context.getBean(Service.class).completable(null);
			advanceAndAwait(context, DELAY);
			await().untilAsserted(() -> assertThat(outer).isCompletedWithValue(null));
		});
	}

	@Test
	void cancelBeforeTheStartRemovesTheTimer() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			for (Future<?> future : List.of(service.future(), service.task(),
					service.completable(new CompletableFuture<>()), service.stage().toCompletableFuture())) {
				assertThat(pending(context)).isPositive();
				assertThat(future.cancel(false)).isTrue();
				assertThat(future.cancel(false)).isFalse();
			}
			assertThat(pending(context)).isZero();
			assertThat(context.getBean(TimingWheel.class).pending()).isZero();
			advanceAndAwait(context, DELAY);
			assertThat(calls).isEmpty();
		});
	}

	@Test
	void afterTheStartOnlyCancelTrueInterrupts() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			CountDownLatch release = new CountDownLatch(1);
			DelayedTask<String> abandoned = service.blocking(release);
			DelayedTask<String> interrupted = service.blocking(new CountDownLatch(1));
			advance(context, DELAY);
			await().until(() -> abandoned.status() == Status.RUNNING && interrupted.status() == Status.RUNNING);
			assertThat(abandoned.cancel(false)).isTrue();
			assertThat(interrupted.cancel(true)).isTrue();
			assertThat(abandoned.status()).isEqualTo(Status.CANCELLED);
			await().until(() -> counts(context, "service.blocking").running() == 1);
			assertThat(calls).containsExactly("interrupted");
			release.countDown();
			awaitIdle(context);
			assertThat(calls).containsExactly("interrupted", "released");
			assertThat(counts(context, "service.blocking").cancelled()).isEqualTo(2);
			assertThatExceptionOfType(CancellationException.class).isThrownBy(interrupted::get);
		});
	}

	@Test
	void noInterruptLeaksIntoTheExecutorsNextTask() {
		this.runner.withPropertyValues("spring.task.execution.pool.core-size=1").run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTask<String> task = service.deaf();
			advance(context, DELAY);
			await().until(() -> task.status() == Status.RUNNING);
			task.cancel(true);
			awaitIdle(context);
			service.run("next");
			advanceAndAwait(context, DELAY);
			assertThat(calls).containsExactly("deaf", "next");
		});
	}

	@Test
	void cancelTrueReachesTheNestedFuture() {
		this.runner.run((context) -> {
			CompletableFuture<String> inner = new CompletableFuture<>();
			CompletableFuture<String> outer = context.getBean(Service.class).completable(inner);
			advance(context, DELAY);
			await().until(() -> !calls.isEmpty());
			outer.cancel(true);
			await().untilAsserted(() -> assertThat(inner).isCancelled());
			awaitIdle(context);
		});
	}

	@Test
	void exceptionsOfVoidMethodsReachTheHandlerWithMethodAndArguments() {
		Handler handler = new Handler();
		this.runner.withBean(AsyncUncaughtExceptionHandler.class, () -> handler).run((context) -> {
			context.getBean(Service.class).fail("a", 1);
			advanceAndAwait(context, DELAY);
			assertThat(handler.events).containsExactly("no: fail [a, 1]");
			assertThat(counts(context, "service.fail").failed()).isOne();
		});
	}

	@Test
	void anExceptionThatNoFutureShowsReachesTheHandler() {
		Handler handler = new Handler();
		this.runner.withBean(AsyncUncaughtExceptionHandler.class, () -> handler).run((context) -> {
			Service service = context.getBean(Service.class);
			service.failing();
			CompletableFuture<String> inner = new CompletableFuture<>();
			service.completable(inner);
			service.failing().completion().exceptionally((ex) -> null);
			service.completable(CompletableFuture.failedFuture(new CancellationException()));
			service.failing().cancel(false);
			advance(context, DELAY);
			await().untilAsserted(() -> assertThat(handler.events).containsExactly("no: failing []"));
			inner.completeExceptionally(new IllegalStateException("inner"));
			assertThat(handler.events).containsExactly("no: failing []", "inner: completable [%s]".formatted(inner));
			awaitIdle(context);
			assertThat(handler.events).hasSize(2);
		});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void exceptionsOfTheTemplatesTasksAreLoggedByDefault(CapturedOutput output) {
		this.runner.run((context) -> {
			context.getBean(DelayedTaskOperations.class).schedule(DELAY, (Runnable) () -> {
				throw new IllegalStateException("nobody looks");
			});
			advanceAndAwait(context, DELAY);
			await().untilAsserted(() -> assertThat(output).contains("nobody looks").contains("DelayedResultTests"));
		});
	}

	@Test
	void theHandlerOfTheAsyncConfigurerComesFirst() {
		Handler handler = new Handler();
		Handler other = new Handler();
		this.runner.withBean(AsyncUncaughtExceptionHandler.class, () -> other)
			.withBean(AsyncConfigurer.class, () -> new AsyncConfigurer() {

				@Override
				public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
					return handler;
				}

			})
			.run((context) -> {
				context.getBean(Service.class).fail("a", 1);
				advanceAndAwait(context, DELAY);
				assertThat(handler.events).hasSize(1);
				assertThat(other.events).isEmpty();
			});
	}

	@Test
	void aHandlerThatThrowsHarmsNoOtherTask() {
		this.runner.withBean(AsyncUncaughtExceptionHandler.class, () -> (ex, method, arguments) -> {
			throw new IllegalStateException("handler");
		}).run((context) -> {
			Service service = context.getBean(Service.class);
			service.fail("a", 1);
			service.run("next");
			advanceAndAwait(context, DELAY);
			assertThat(calls).containsExactly("next");
			assertThat(context.getBean(DelayedTaskRegistry.class).runningCount()).isZero();
		});
	}

	static class Handler implements AsyncUncaughtExceptionHandler {

		private final List<String> events = new CopyOnWriteArrayList<>();

		@Override
		public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
			this.events.add(ex.getMessage() + ": " + method.getName() + " " + Arrays.toString(params));
		}

	}

	static class Service {

		@Delayed("1s")
		public Future<String> future() {
			return CompletableFuture.completedFuture("f");
		}

		@Delayed("1s")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedStage("s");
		}

		@Delayed("1s")
		public CompletableFuture<String> completable(@Nullable CompletableFuture<String> inner) {
			calls.add("completable");
			return inner;
		}

		@Delayed("1s")
		public Future<String> plain(Future<String> inner) {
			calls.add("plain");
			return inner;
		}

		@Delayed("1s")
		public DelayedTask<String> task() {
			return DelayedTask.completed("t");
		}

		@Delayed("1s")
		public DelayedTask<String> failing() throws IOException {
			throw new IOException("no");
		}

		@Delayed("1s")
		public DelayedTask<String> blocking(CountDownLatch release) {
			try {
				release.await(60, TimeUnit.SECONDS);
				calls.add("released");
			}
			catch (InterruptedException ex) {
				calls.add("interrupted");
			}
			return DelayedTask.completed("done");
		}

		@Delayed("1s")
		public DelayedTask<String> deaf() {
			while (!Thread.currentThread().isInterrupted()) {
				Thread.onSpinWait();
			}
			calls.add("deaf");
			return DelayedTask.completed("done");
		}

		@Delayed("1s")
		public void run(String call) {
			calls.add(Thread.currentThread().isInterrupted() ? "interrupted " + call : call);
		}

		@Delayed("1s")
		public void fail(String text, int number) {
			throw new IllegalStateException("no");
		}

	}

}
