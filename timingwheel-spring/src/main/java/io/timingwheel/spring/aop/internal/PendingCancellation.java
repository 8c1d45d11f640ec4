package io.timingwheel.spring.aop.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;

import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.FutureCompletion;
import io.timingwheel.spring.task.internal.Transactions;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;

/**
 * Cancels a task, in memory or in the store, for one call of a {@code @CancelDelayed}
 * method.
 */
record PendingCancellation(TaskId taskId, TaskRuntime runtime) {

	private static final Log logger = LogFactory.getLog(PendingCancellation.class);

	/** Cancels a task in memory now, and one in a store with the thread's transaction. */
	void run() {
		cancel(this.runtime.tasks()::cancel);
	}

	/** Cancels the task with the transaction of the current thread, or else now. */
	void runWithTransaction() {
		cancel(this.runtime.tasks()::cancelAfterCommit);
	}

	private void cancel(Consumer<TaskId> inMemory) {
		DurableMethod.Store durable = this.runtime.storeOf(this.taskId);
		if (durable != null) {
			durable.cancel(this.taskId);
		}
		else {
			inMemory.accept(this.taskId);
		}
	}

	/**
	 * Cancels the task once a future has completed normally: one that is done like a
	 * normal return, any other after the commit of the caller's transaction.
	 */
	void runOnSuccessOf(Object future) {
		CompletableFuture<Boolean> success = new CompletableFuture<>();
		FutureCompletion.whenDone(future, this.runtime.tasks().completions(),
				(value, error) -> success.complete(error == null));
		if (!success.isDone()) {
			// The thread that completes the future must not wait for a store, unless it
			// is in a transaction, which the cancel joins.
			Executor executor = (cancel) -> {
				boolean waits = this.runtime.storeOf(this.taskId) != null && !Transactions.isActive();
				(waits ? this.runtime.tasks().completions() : (Executor) Runnable::run).execute(cancel);
			};
			Transactions.afterCommit(() -> success.thenAcceptAsync(this::runIf, executor));
		}
		else if (success.join()) {
			runWithTransaction();
		}
	}

	/** No caller can get an exception of the store any more. */
	private void runIf(boolean success) {
		try {
			if (success) {
				run();
			}
		}
		catch (RuntimeException ex) {
			logger.error("The task \"%s\" could not be cancelled".formatted(this.taskId.name()), ex);
		}
	}

	/**
	 * Cancels the task at the normal completion of each subscription. Only this class
	 * needs Reactor, which is optional.
	 */
	static final class OfPublisher {

		private OfPublisher() {
		}

		/** Gives what the caller gets in place of a publisher. */
		static Object apply(Object returned, ReactiveAdapter adapter, PendingCancellation cancellation) {
			Flux<Object> source = Flux.from(adapter.toPublisher(returned));
			Flux<Object> result = source.concatWith(Mono.defer(() -> {
				Mono<Object> cancel = Mono.fromRunnable(cancellation::runWithTransaction);
				// A thread that must not block leaves the call of a store to another one.
				return (Schedulers.isInNonBlockingThread() && cancellation.runtime.storeOf(cancellation.taskId) != null)
						? cancel.subscribeOn(Schedulers.boundedElastic()) : cancel;
			}));
			// The only value comes after the cancellation.
			return adapter.fromPublisher(adapter.isMultiValue() ? result : result.singleOrEmpty());
		}

	}

}
