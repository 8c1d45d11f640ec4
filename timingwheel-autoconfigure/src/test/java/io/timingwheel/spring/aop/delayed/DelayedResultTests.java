package io.timingwheel.spring.aop.delayed;

import java.io.IOException;
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

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.AsyncConfigurer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the caller of a method with {@code @Delayed} gets, and who hears of its exception.
 */
class DelayedResultTests {

	private static final List<String> handled = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class)
		.with(AsyncUncaughtExceptionHandler.class, DelayedResultTests::handler);

	private static AsyncUncaughtExceptionHandler handler() {
		return (ex, method, arguments) -> handled
			.add(ex.getMessage() + ": " + method.getName() + " " + Arrays.toString(arguments));
	}

	@AfterEach
	void clear() {
		handled.clear();
	}

	@Test
	void everyKindOfFutureGivesTheResult(Service service) {
		DelayedTask<String> task = service.task();
		CompletableFuture<String> ofNull = service.completable(null);
		List<Future<String>> futures = List.of(service.future(), service.stage().toCompletableFuture(), task);
		assertThat(task.status()).isEqualTo(Status.SCHEDULED);
		assertThat(futures).noneMatch(Future::isDone);
		app.advanceSeconds(1);
		assertThat(futures).allSatisfy((future) -> assertThat(future.get()).isEqualTo("result"));
		assertThat(task.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(ofNull).isCompletedWithValue(null);
	}

	@Test
	void aNestedFutureIsFlattenedWithoutABlockedThread(Service service) {
		CompletableFuture<String> inner = new CompletableFuture<>();
		FutureTask<String> plain = new FutureTask<>(() -> "plain");
		CompletableFuture<String> outer = service.completable(inner);
		Future<String> outerOfPlain = service.plain(plain);
		CompletableFuture<String> failing = service.completable(
				CompletableFuture.<String>failedFuture(new IllegalStateException("inner")).thenApply((value) -> value));
		app.advanceSeconds(1);
		assertThat(List.of(outer, outerOfPlain)).noneMatch(Future::isDone);
		assertThat(app.counts("service.completable").running()).isOne();
		inner.complete("inner");
		assertThat(outer).isCompletedWithValue("inner");
		assertThat(app.counts("service.completable").running()).isZero();
		assertThat(app.counts("service.completable").failed()).isOne();
		assertThat(failing).failsWithin(Duration.ZERO)
			.withThrowableOfType(ExecutionException.class)
			.havingCause()
			.isExactlyInstanceOf(IllegalStateException.class)
			.withMessage("inner");
		plain.run();
		assertThat(outerOfPlain).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("plain");
	}

	@Test
	void afterTheStartOnlyCancelTrueInterrupts() {
		try (VirtualApplication threads = VirtualApplication.of(Service.class).withExecutors()) {
			Service service = threads.bean(Service.class);
			CountDownLatch release = new CountDownLatch(1);
			DelayedTask<String> abandoned = service.blocking(release);
			DelayedTask<String> interrupted = service.blocking(new CountDownLatch(1));
			threads.advanceSeconds(1);
			await().until(() -> abandoned.status() == Status.RUNNING && interrupted.status() == Status.RUNNING);
			assertThat(abandoned.cancel(false)).isTrue();
			assertThat(interrupted.cancel(true)).isTrue();
			await().until(() -> threads.counts("service.blocking").running() == 1);
			assertThat(app.calls()).containsExactly("interrupted");
			release.countDown();
			threads.awaitIdle();
			assertThat(app.calls()).containsExactly("interrupted", "released");
			assertThat(threads.counts("service.blocking").cancelled()).isEqualTo(2);
			assertThat(List.of(abandoned, interrupted)).allMatch(Future::isCancelled);
		}
	}

	@Test
	void exceptionsOfVoidMethodsReachTheHandlerWithMethodAndArguments(Service service) {
		service.fail("a", 1);
		app.advanceSeconds(1);
		assertThat(handled).containsExactly("no: fail [a, 1]");
		assertThat(app.counts("service.fail").failed()).isOne();
	}

	@Test
	void anExceptionThatNoFutureShowsReachesTheHandler(Service service) throws IOException {
		service.failing();
		CompletableFuture<String> inner = new CompletableFuture<>();
		service.completable(inner);
		service.failing().completion().exceptionally((ex) -> null);
		service.completable(CompletableFuture.failedFuture(new CancellationException()));
		service.failing().cancel(false);
		app.advanceSeconds(1);
		assertThat(handled).containsExactly("no: failing []");
		inner.completeExceptionally(new IllegalStateException("inner"));
		assertThat(handled).containsExactly("no: failing []", "inner: completable [%s]".formatted(inner));
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void exceptionsOfTheTemplatesTasksAreLoggedByDefault(CapturedOutput output) {
		try (VirtualApplication plain = VirtualApplication.of()) {
			plain.tasks().schedule(Duration.ofSeconds(1), (Runnable) () -> {
				throw new IllegalStateException("nobody looks");
			});
			plain.advanceSeconds(1);
			assertThat(output).contains("nobody looks").contains("DelayedResultTests");
		}
	}

	@Test
	void theHandlerOfTheAsyncConfigurerComesFirstAndIfItThrowsThatHarmsNoOtherTask() {
		AsyncConfigurer configurer = new AsyncConfigurer() {

			@Override
			public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
				return (ex, method, arguments) -> {
					app.calls().add("configurer " + ex.getMessage());
					throw new IllegalStateException("handler");
				};
			}

		};
		try (VirtualApplication configured = VirtualApplication.of(Service.class)
			.with(AsyncUncaughtExceptionHandler.class, DelayedResultTests::handler)
			.with(AsyncConfigurer.class, () -> configurer)) {
			configured.bean(Service.class).fail("a", 1);
			configured.bean(Service.class).run("next");
			configured.advanceSeconds(1);
			assertThat(app.calls()).containsExactlyInAnyOrder("configurer no", "next");
			assertThat(handled).isEmpty();
			assertThat(configured.counts("service.fail").running()).isZero();
		}
	}

	static class Service {

		@Delayed("1s")
		public Future<String> future() {
			return CompletableFuture.completedFuture("result");
		}

		@Delayed("1s")
		public CompletionStage<String> stage() {
			return CompletableFuture.completedStage("result");
		}

		@Delayed("1s")
		public CompletableFuture<String> completable(@Nullable CompletableFuture<String> inner) {
			return inner;
		}

		@Delayed("1s")
		public Future<String> plain(Future<String> inner) {
			return inner;
		}

		@Delayed("1s")
		public DelayedTask<String> task() {
			return DelayedTask.completed("result");
		}

		@Delayed("1s")
		public DelayedTask<String> failing() throws IOException {
			throw new IOException("no");
		}

		@Delayed("1s")
		public DelayedTask<String> blocking(CountDownLatch release) {
			try {
				release.await(60, TimeUnit.SECONDS);
				app.calls().add("released");
			}
			catch (InterruptedException ex) {
				app.calls().add("interrupted");
			}
			return DelayedTask.completed("done");
		}

		@Delayed("1s")
		public void run(String call) {
			app.calls().add(call);
		}

		@Delayed("1s")
		public void fail(String text, int number) {
			throw new IllegalStateException("no");
		}

	}

}
