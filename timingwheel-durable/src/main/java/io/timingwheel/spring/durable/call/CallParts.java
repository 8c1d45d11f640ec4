package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.DeferredCall;
import io.timingwheel.spring.task.internal.DeferredCall.Effect;
import io.timingwheel.spring.task.internal.TaskOutcome;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.Transactions;
import org.jspecify.annotations.Nullable;

/**
 * What all calls have in common, and the transaction of the calling thread. Either the
 * store takes part in it, or calls to the store wait for the commit, in the order that
 * {@link Transactions} describes. Thread-safe.
 *
 * @param nanoTime the clock of this node
 * @param node is told of the tasks that are stored and moved
 * @since 0.1
 */
public record CallParts(DelayedTaskStore store, DurableHandlers handlers, Function<String, TaskRecorder> recorders,
		LongSupplier nanoTime, Expecting node) {

	private static final Runnable NOTHING = () -> {
	};

	/** A key under all names of its method, the current name first. */
	List<Target> targets(TaskId id, Kind kind) {
		return this.handlers.allNames(id.name())
			.stream()
			.map((name) -> Target.of(new TaskId(name, id.key()), kind))
			.toList();
	}

	List<Target> earlierNames(@Nullable TaskId id, Kind kind) {
		return (id != null) ? targets(id, kind).stream().skip(1).toList() : List.of();
	}

	Stream<StoredTask> find(List<Target> targets) {
		return targets.stream().flatMap((target) -> this.store.find(target).stream());
	}

	boolean isDeferred() {
		return Transactions.isActive() && !this.store.joinsTransaction();
	}

	/** What the latest waiting call about a task will do at the commit. */
	Effect earlier(@Nullable Key key) {
		List<DeferredCall> waiting = (key != null) ? Transactions.waiting(key) : List.of();
		return waiting.isEmpty() ? Effect.NONE : waiting.get(0).effect();
	}

	@Nullable Key key(String name, @Nullable String key, Kind kind) {
		return (key != null) ? new Key(this, new TaskId(this.handlers.canonicalName(name), key), kind) : null;
	}

	/**
	 * Stores calls now, or after the commit those that no later call of the transaction
	 * overrides.
	 * @param store stores the calls that are still wanted, in one request
	 */
	void store(List<Submission> submissions, Consumer<List<Submission>> store) {
		Runnable abandon = () -> submissions.forEach((submission) -> submission.task().abandon());
		if (isDeferred()) {
			submissions.forEach(Transactions::defer);
			Transactions.afterCompletion(() -> storeAfterCommit(submissions, store), abandon);
		}
		else {
			store.accept(submissions);
			onRollback(abandon);
		}
	}

	/** Exceptions go to the handlers, since the callers can no longer get them. */
	private static void storeAfterCommit(List<Submission> submissions, Consumer<List<Submission>> store) {
		List<Submission> wanted = submissions.stream()
			.filter((each) -> each.task().endWait(Handle.State.STORING))
			.toList();
		try {
			if (!wanted.isEmpty()) {
				store.accept(wanted);
			}
		}
		catch (RuntimeException ex) {
			List<Submission> failed = wanted.stream().filter((each) -> !each.task().is(Handle.State.STORED)).toList();
			if (failed.isEmpty()) {
				// A task under an earlier name could not be replaced.
				throw ex;
			}
			failed.forEach((submission) -> submission.failed(ex));
		}
	}

	/** Changes a task after the commit. */
	boolean defer(@Nullable Key key, Effect effect, BooleanSupplier change) {
		Transactions.defer(new DeferredCall(key, effect) {

			@Override
			protected void commit() {
				boolean ignored = change.getAsBoolean();
			}

		});
		return true;
	}

	void onRollback(Runnable action) {
		Transactions.afterCompletion(NOTHING, action);
	}

	void count(String name, TaskOutcome outcome) {
		Transactions.afterCompletion(() -> this.recorders.apply(this.handlers.canonicalName(name)).count(outcome),
				NOTHING);
	}

	/**
	 * Tells the node of a task that was stored or moved.
	 * @param now the time by the store's clock when that was done
	 */
	void expect(String name, long dueAt, long now) {
		long heard = this.nanoTime.getAsLong();
		Transactions.afterCompletion(() -> {
			long since = TimeUnit.NANOSECONDS.toMillis(this.nanoTime.getAsLong() - heard);
			this.node.expect(name, dueAt, now + since);
		}, NOTHING);
	}

	/**
	 * What a call is about. Calls about a task that runs once and about a schedule with
	 * its key do not affect each other.
	 */
	record Key(CallParts parts, TaskId id, Kind kind) {

	}

	public interface Expecting {

		/**
		 * It is certain that a task was stored or moved. The times are those of the
		 * store.
		 */
		void expect(String name, long dueAt, long now);

	}

}
