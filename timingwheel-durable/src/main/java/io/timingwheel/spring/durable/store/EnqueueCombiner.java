package io.timingwheel.spring.durable.store;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import org.jspecify.annotations.Nullable;

/**
 * Lets callers that store tasks at the same time share a request to a store, and so a
 * commit. When a request has ended, the caller that has waited longest sends the tasks of
 * all that wait. For calls outside of transactions. Thread-safe.
 *
 * <p>
 * A task that the store refuses harms no other: each caller then stores its task alone.
 * If the store cannot be reached, all callers of the request get the same exception. An
 * earlier interrupt of a caller does not reach the request that it sends for others.
 *
 * @since 0.1
 */
public final class EnqueueCombiner {

	private static final int MAX_TASKS = 100;

	/** A task with more characters goes alone, since a request should not be large. */
	private static final int MAX_PAYLOAD = 10_000;

	private final Request together;

	private final Function<NewTask, Enqueued> alone;

	private final Queue<Call> waiting = new ArrayDeque<>();

	/** The caller that sends the request, or is about to; {@code null} for none. */
	private volatile @Nullable Thread sender;

	/** Whether the last request had the tasks of several callers. */
	private boolean shared;

	public EnqueueCombiner(Request together, Function<NewTask, Enqueued> alone) {
		this.together = together;
		this.alone = alone;
	}

	/**
	 * @throws RuntimeException if the task is not, or not certainly, stored
	 */
	public Enqueued enqueue(NewTask task) {
		Thread caller = Thread.currentThread();
		// A call within the request of its own thread must not wait for this request.
		if (caller.isInterrupted() || this.sender == caller || task.payload().length() > MAX_PAYLOAD) {
			return this.alone.apply(task);
		}
		Call call = new Call(caller, task, new CompletableFuture<>());
		return join(call) ? send() : call.next().join().get();
	}

	/** Whether the caller sends the next request. */
	private synchronized boolean join(Call call) {
		this.waiting.add(call);
		return this.sender == null && appointSender() == call;
	}

	private synchronized @Nullable Call appointSender() {
		Call next = this.waiting.peek();
		this.sender = (next != null) ? next.caller() : null;
		return next;
	}

	private Enqueued send() {
		boolean interrupted = Thread.interrupted();
		if (this.shared) {
			// Callers of the last request, which wake up at this moment, can still join.
			Thread.yield();
		}
		List<Call> calls = take();
		this.shared = calls.size() > 1;
		IntFunction<Enqueued> results = store(calls.stream().map(Call::task).toList());
		Call next = appointSender();
		for (int i = 1; i < calls.size(); i++) {
			int position = i;
			calls.get(i).next().complete(() -> results.apply(position));
		}
		if (next != null) {
			// This comes last, so that the callers of this request may come back before.
			next.next().complete(this::send);
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		return results.apply(0);
	}

	/** The first is that of the sender. */
	private synchronized List<Call> take() {
		int count = Math.min(this.waiting.size(), MAX_TASKS);
		return IntStream.range(0, count).mapToObj((i) -> this.waiting.remove()).toList();
	}

	/** Stores tasks in one request. The caller of a task takes its result. */
	private IntFunction<Enqueued> store(List<NewTask> tasks) {
		try {
			List<Enqueued> enqueued = this.together.send(tasks);
			return (i) -> (enqueued != null) ? enqueued.get(i) : this.alone.apply(tasks.get(i));
		}
		catch (PartlyStoredException ex) {
			return (i) -> Optional.ofNullable(ex.enqueued().get(i)).orElseThrow(ex::failure);
		}
		catch (RuntimeException | Error ex) {
			return (i) -> {
				throw ex;
			};
		}
	}

	/** A request that stores the tasks of several callers. */
	public interface Request {

		/**
		 * Stores tasks, outside of any transaction of the calling thread.
		 * @return the result for each task, in this order; {@code null} if none was
		 * stored, and each caller has to store its task alone
		 * @throws PartlyStoredException if some of the tasks are stored
		 */
		@Nullable List<Enqueued> send(List<NewTask> tasks);

	}

	/** After its wait, a caller takes its result or sends the next request. */
	private record Call(Thread caller, NewTask task, CompletableFuture<Supplier<Enqueued>> next) {

	}

}
