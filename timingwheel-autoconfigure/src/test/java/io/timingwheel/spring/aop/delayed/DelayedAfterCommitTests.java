package io.timingwheel.spring.aop.delayed;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

class DelayedAfterCommitTests {

	private static final List<String> calls = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DelayedContexts.runner(TransactionConfiguration.class)
		.withBean("service", Service.class);

	@BeforeEach
	void reset() {
		calls.clear();
	}

	@Test
	void schedulesOnceTheTransactionHasCommitted() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
				service.run("a");
				assertThat(pending(context)).isZero();
				advance(context, Duration.ofSeconds(20));
			});
			assertThat(pending(context)).isOne();
			advance(context, Duration.ofSeconds(9));
			assertThat(pending(context)).isOne();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(calls).containsExactly("a");
		});
	}

	@Test
	void schedulesNothingAfterARollback() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTask<String> task = context.getBean(TransactionTemplate.class).execute((status) -> {
				service.run("a");
				status.setRollbackOnly();
				return service.result("k", "b");
			});
			assertThat(pending(context)).isZero();
			assertThat(task.isCancelled()).isTrue();
			assertThat(task.status()).isEqualTo(Status.CANCELLED);
			advanceAndAwait(context, Duration.ofSeconds(20));
			assertThat(calls).isEmpty();
		});
	}

	@Test
	void schedulesNothingAfterARollbackToASavepoint() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTask<String> inner = context.getBean(TransactionTemplate.class).execute((outer) -> {
				service.run("before");
				Object savepoint = outer.createSavepoint();
				DelayedTask<String> result = service.result("k", "within");
				outer.rollbackToSavepoint(savepoint);
				service.run("after");
				return result;
			});
			assertThat(inner.status()).isEqualTo(Status.CANCELLED);
			assertThat(pending(context)).isEqualTo(2);
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(calls).containsExactlyInAnyOrder("before", "after");
		});
	}

	@Test
	void schedulesAlsoWhenAnotherSynchronizationFailsAfterTheCommit() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			assertThatIllegalStateException()
				.isThrownBy(() -> context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
					afterCommit(() -> {
						throw new IllegalStateException();
					});
					service.run("a");
				}));
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void schedulesAlsoWhenCalledAfterTheCommit() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			context.getBean(TransactionTemplate.class)
				.executeWithoutResult((status) -> afterCommit(() -> service.run("a")));
			assertThat(pending(context)).isOne();
		});
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
	void schedulesAtOnceWithoutATransaction() {
		this.runner.run((context) -> {
			context.getBean(Service.class).run("a");
			assertThat(pending(context)).isOne();
		});
	}

	@Test
	void doesNotWaitWithoutTheAttribute() {
		this.runner.run((context) -> context.getBean(TransactionTemplate.class).executeWithoutResult((status) -> {
			context.getBean(Service.class).atOnce();
			assertThat(pending(context)).isOne();
			status.setRollbackOnly();
		}));
	}

	@Test
	void theCallerHasTheResultBeforeTheCommit() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			DelayedTask<String> task = context.getBean(TransactionTemplate.class).execute((status) -> {
				DelayedTask<String> result = service.result("k", "b");
				assertThat(result.status()).isEqualTo(Status.SCHEDULED);
				return result;
			});
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(task.get()).isEqualTo("b");
		});
	}

	@Test
	void cancellingBeforeTheCommitSchedulesNothingAndIsCounted() {
		this.runner.run((context) -> {
			context.getBean(TransactionTemplate.class)
				.executeWithoutResult(
						(status) -> assertThat(context.getBean(Service.class).result("k", "b").cancel(false)).isTrue());
			assertThat(pending(context)).isZero();
			assertThat(counts(context, "service.result").cancelled()).isOne();
		});
	}

	@Test
	void keepFollowsThePendingTask() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			service.kept("k", "first");
			DelayedTask<String> second = context.getBean(TransactionTemplate.class)
				.execute((status) -> service.kept("k", "second"));
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(second.get()).isEqualTo("first");
		});
	}

	@Test
	void aRejectionAfterTheCommitDoesNotFailTheTransaction() {
		Handler handler = new Handler();
		this.runner.withBean(AsyncUncaughtExceptionHandler.class, () -> handler).run((context) -> {
			Service service = context.getBean(Service.class);
			service.rejected("k");
			DelayedTask<String> second = context.getBean(TransactionTemplate.class).execute((status) -> {
				service.rejected("k");
				return service.rejectedResult("k");
			});
			assertThat(handler.errors).hasSize(1).first().isInstanceOf(DuplicateTaskException.class);
			assertThat(second.status()).isEqualTo(Status.SCHEDULED);
			DelayedTask<String> third = context.getBean(TransactionTemplate.class)
				.execute((status) -> service.rejectedResult("k"));
			assertThat(third.status()).isEqualTo(Status.FAILED);
			assertThat(counts(context, "service.rejected").pending()).isOne();
		});
	}

	@Test
	void errorsOfTheCallReachTheCallerAtOnce() {
		this.runner.run((context) -> context.getBean(TransactionTemplate.class)
			.executeWithoutResult((status) -> assertThatIllegalArgumentException()
				.isThrownBy(() -> context.getBean(Service.class).result(null, "b"))));
	}

	static class Handler implements AsyncUncaughtExceptionHandler {

		private final List<Throwable> errors = new CopyOnWriteArrayList<>();

		@Override
		public void handleUncaughtException(Throwable ex, Method method, @Nullable Object... params) {
			this.errors.add(ex);
		}

	}

	static class Service {

		@Delayed(delay = "10s", afterCommit = true)
		public void run(String call) {
			calls.add(call);
		}

		@Delayed("10s")
		public void atOnce() {
		}

		@Delayed(delay = "10s", afterCommit = true, key = "#key")
		public DelayedTask<String> result(@Nullable String key, String result) {
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
