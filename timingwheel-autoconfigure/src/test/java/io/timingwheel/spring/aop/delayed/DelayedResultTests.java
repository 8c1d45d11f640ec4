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
import io.timingwheel.spring.aop.Database;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * What the caller of a method with {@code @Delayed} gets, and who hears of its exception,
 * also if the task is scheduled after the commit of a transaction.
 */
class DelayedResultTests {

	private static final List<String> handled = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Database.class, Service.class)
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
		FutureTask<String> failingPlain = new FutureTask<>(() -> {
			throw new IllegalStateException("inner");
		});
		failingPlain.run();
		CompletableFuture<String> outer = service.completable(inner);
		Future<String> outerOfPlain = service.plain(plain);
		CompletableFuture<String> failing = service.completable(
				CompletableFuture.<String>failedFuture(new IllegalStateException("inner")).thenApply((value) -> value));
		Future<String> outerOfFailing = service.plain(failingPlain);
		app.advanceSeconds(1);
		assertThat(List.of(outer, outerOfPlain)).noneMatch(Future::isDone);
		assertThat(app.counts("service.completable").running()).isOne();
		inner.complete("inner");
		assertThat(outer).isCompletedWithValue("inner");
		assertThat(app.counts("service.completable").running()).isZero();
		assertThat(app.counts("service.completable").failed()).isOne();
		assertThat(List.of(failing, outerOfFailing))
			.allSatisfy((future) -> assertThat(future).failsWithin(Duration.ZERO)
				.withThrowableOfType(ExecutionException.class)
				.havingCause()
				.isExactlyInstanceOf(IllegalStateException.class)
				.withMessage("inner"));
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

	@Test
	void theDelayBeginsAtTheCommitOrAtOnceWithoutATransactionOrTheAttribute(Service service,
			TransactionTemplate transaction) {
		transaction.executeWithoutResult((status) -> {
			service.committed("k", "a");
			assertThat(app.pending()).isZero();
			app.advanceSeconds(20);
		});
		app.advanceSeconds(9);
		service.committed("l", "b");
		transaction.executeWithoutResult((status) -> {
			service.atOnce();
			status.setRollbackOnly();
		});
		assertThat(app.pending()).isEqualTo(3);
		app.advanceSeconds(1);
		assertThat(app.calls()).containsExactly("a");
	}

	@Test
	void schedulesNothingAfterARollbackAlsoToASavepoint(Service service, TransactionTemplate transaction) {
		long cancelled = app.counts("service.rejected").cancelled();
		DelayedTask<String> task = transaction.execute((status) -> {
			status.setRollbackOnly();
			service.rejected("k");
			return service.committed("k", "b");
		});
		assertThat(app.pending()).isZero();
		assertThat(app.counts("service.rejected").cancelled()).isEqualTo(cancelled + 1);
		DelayedTask<String> inner = transaction.execute((outer) -> {
			service.committed("k", "before");
			Object savepoint = outer.createSavepoint();
			DelayedTask<String> result = service.committed("l", "within");
			outer.rollbackToSavepoint(savepoint);
			service.committed("m", "after");
			return result;
		});
		assertThat(List.of(task, inner)).extracting(DelayedTask::status).containsOnly(Status.CANCELLED);
		app.advanceSeconds(10);
		assertThat(app.calls()).containsExactlyInAnyOrder("before", "after");
	}

	@Test
	void schedulesAlsoAfterTheCommitAndWhenAnotherSynchronizationFails(Service service,
			TransactionTemplate transaction) {
		transaction.executeWithoutResult((status) -> afterCommit(() -> service.committed("k", "a")));
		assertThat(app.pending()).isOne();
		assertThatIllegalStateException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
			afterCommit(() -> {
				throw new IllegalStateException();
			});
			service.committed("l", "b");
		}));
		assertThat(app.pending()).isEqualTo(2);
	}

	private static void afterCommit(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.run();
			}

		});
	}

	@Test
	void theCallerHasTheResultBeforeTheCommitAndMayCancelIt(Service service, TransactionTemplate transaction) {
		DelayedTask<String> task = transaction.execute((status) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> service.committed(null, "an error of the call"));
			assertThat(service.committed("cancelled", "a").cancel(false)).isTrue();
			DelayedTask<String> result = service.committed("k", "b");
			assertThat(result.status()).isEqualTo(Status.SCHEDULED);
			return result;
		});
		assertThat(app.pending()).isOne();
		app.advanceSeconds(10);
		assertThat(task.completion()).isCompletedWithValue("b");
	}

	@Test
	void keepFollowsThePendingTaskAndARejectionDoesNotFailTheTransaction(Service service,
			TransactionTemplate transaction) {
		service.kept("k", "first");
		service.rejected("k");
		DelayedTask<String> second = transaction.execute((status) -> {
			service.rejected("k");
			return service.kept("k", "second");
		});
		assertThat(handled).singleElement().asString().contains("pending").endsWith(": rejected [k]");
		service.rejectedResult("k");
		assertThat(transaction.execute((status) -> service.rejectedResult("k")).status()).isEqualTo(Status.FAILED);
		app.advanceSeconds(10);
		assertThat(second.completion()).isCompletedWithValue("first");
	}

	@Test
	void aCallThatWaitsBehindAnotherIsDueByTheTimeOfTheCall(TransactionTemplate transaction) {
		TaskId id = TaskId.of("waiting", "k");
		app.tasks().schedule(id, Duration.ofHours(1), () -> {
		});
		DelayedTask<?> task = transaction.execute((status) -> {
			app.bean(DelayedTaskRegistry.class).cancelAfterCommit(id);
			DelayedTask<?> waiting = app.tasks()
				.task(() -> app.calls().add("a"))
				.id(id)
				.maxWait(Duration.ofSeconds(8))
				.after(Duration.ofSeconds(10));
			app.advanceSeconds(5);
			return waiting;
		});
		app.advance(Duration.ofMillis(2_999));
		assertThat(task.isDone()).isFalse();
		app.advance(Duration.ofMillis(1));
		assertThat(app.calls()).containsExactly("a");
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

		@Delayed("10s")
		public void atOnce() {
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key")
		public DelayedTask<String> committed(@Nullable String key, String result) {
			app.calls().add(result);
			return DelayedTask.completed(result);
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key", ifPending = IfPending.KEEP)
		public DelayedTask<String> kept(String key, String result) {
			return DelayedTask.completed(result);
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key", ifPending = IfPending.REJECT)
		public void rejected(String key) {
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key", ifPending = IfPending.REJECT)
		public DelayedTask<String> rejectedResult(String key) {
			return DelayedTask.completed(key);
		}

	}

}
