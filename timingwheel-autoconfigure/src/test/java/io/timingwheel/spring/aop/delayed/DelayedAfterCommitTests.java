package io.timingwheel.spring.aop.delayed;

import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * {@code afterCommit} of {@code @Delayed}.
 */
class DelayedAfterCommitTests {

	private static final List<Throwable> uncaught = new ArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(TransactionConfiguration.class, Service.class)
		.with(AsyncUncaughtExceptionHandler.class, () -> (ex, method, arguments) -> uncaught.add(ex));

	@AfterEach
	void clear() {
		uncaught.clear();
	}

	@Test
	void theDelayBeginsAtTheCommitOrAtOnceWithoutATransactionOrTheAttribute(Service service,
			TransactionTemplate transaction) {
		transaction.executeWithoutResult((status) -> {
			service.result("k", "a");
			assertThat(app.pending()).isZero();
			app.advanceSeconds(20);
		});
		app.advanceSeconds(9);
		service.result("l", "b");
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
		DelayedTask<String> task = transaction.execute((status) -> {
			status.setRollbackOnly();
			return service.result("k", "b");
		});
		assertThat(app.pending()).isZero();
		DelayedTask<String> inner = transaction.execute((outer) -> {
			service.result("k", "before");
			Object savepoint = outer.createSavepoint();
			DelayedTask<String> result = service.result("l", "within");
			outer.rollbackToSavepoint(savepoint);
			service.result("m", "after");
			return result;
		});
		assertThat(List.of(task, inner)).extracting(DelayedTask::status).containsOnly(Status.CANCELLED);
		app.advanceSeconds(10);
		assertThat(app.calls()).containsExactlyInAnyOrder("before", "after");
	}

	@Test
	void schedulesAlsoAfterTheCommitAndWhenAnotherSynchronizationFails(Service service,
			TransactionTemplate transaction) {
		transaction.executeWithoutResult((status) -> afterCommit(() -> service.result("k", "a")));
		assertThat(app.pending()).isOne();
		assertThatIllegalStateException().isThrownBy(() -> transaction.executeWithoutResult((status) -> {
			afterCommit(() -> {
				throw new IllegalStateException();
			});
			service.result("l", "b");
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
			assertThatIllegalArgumentException().isThrownBy(() -> service.result(null, "an error of the call"));
			assertThat(service.result("cancelled", "a").cancel(false)).isTrue();
			DelayedTask<String> result = service.result("k", "b");
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
		assertThat(uncaught).singleElement().isInstanceOf(DuplicateTaskException.class);
		service.rejectedResult("k");
		assertThat(transaction.execute((status) -> service.rejectedResult("k")).status()).isEqualTo(Status.FAILED);
		app.advanceSeconds(10);
		assertThat(second.completion()).isCompletedWithValue("first");
	}

	static class Service {

		@Delayed("10s")
		public void atOnce() {
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key")
		public DelayedTask<String> result(@Nullable String key, String result) {
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
