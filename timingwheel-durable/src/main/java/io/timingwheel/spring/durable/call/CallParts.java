package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskOutcome;
import io.timingwheel.spring.task.internal.Transactions;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall;
import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.jspecify.annotations.Nullable;

/**
 * What all calls use, and the transaction of the calling thread. Either the store takes
 * part in it, or calls to the store wait for the commit, in the order that
 * {@link Transactions} describes. Thread-safe.
 *
 * @param nanoTime the clock of this node
 * @param node is told of the tasks that have certainly been stored or moved, with the
 * milliseconds until they are due
 */
public record CallParts(DelayedTaskStore store, DurableHandlers handlers, Function<String, TaskRecorder> recorders,
		LongSupplier nanoTime, ObjLongConsumer<String> node) {

	/**
	 * A key under all names of its method, the current name first; nothing if no store
	 * can have such a task.
	 */
	List<Target> targets(TaskId id, Kind kind) {
		return !TaskLimits.isStorable(id) ? List.of()
				: this.handlers.allNames(id.name())
					.stream()
					.map((name) -> Target.of(new TaskId(name, id.key()), kind))
					.toList();
	}

	List<Target> earlierNames(@Nullable TaskId id, Kind kind) {
		// Most methods have one name.
		return (id == null || this.handlers.allNames(id.name()).size() == 1) ? List.of()
				: targets(id, kind).stream().skip(1).toList();
	}

	Stream<StoredTask> find(List<Target> targets) {
		return targets.stream().flatMap((target) -> this.store.find(target).stream());
	}

	boolean isDeferred() {
		return Transactions.isActive() && !this.store.joinsTransaction();
	}

	@Nullable Key key(String name, @Nullable String key, Kind kind) {
		return (key != null) ? new Key(this, new TaskId(this.handlers.canonicalName(name), key), kind) : null;
	}

	/** Changes a task after the commit. */
	boolean defer(@Nullable Key key, Effect effect, BooleanSupplier change) {
		Transactions.defer(new DeferredCall(key, effect) {

			@Override
			public void commit() {
				boolean ignored = change.getAsBoolean();
			}

		});
		return true;
	}

	/** Runs an action after the commit, or now without a transaction. */
	static void afterCommit(Runnable action) {
		Transactions.afterCompletion(action, () -> {
		});
	}

	static void onRollback(Runnable action) {
		Transactions.afterCompletion(() -> {
		}, action);
	}

	void count(String name, TaskOutcome outcome) {
		afterCommit(() -> this.recorders.apply(this.handlers.canonicalName(name)).count(outcome));
	}

	/**
	 * Tells the node of a task that was stored or moved.
	 * @param millis how long before the due time the store did so
	 */
	void expect(String name, long millis) {
		long heard = this.nanoTime.getAsLong();
		afterCommit(() -> this.node.accept(name,
				millis - TimeUnit.NANOSECONDS.toMillis(this.nanoTime.getAsLong() - heard)));
	}

	/**
	 * What a call is about. Calls about a task that runs once and about a schedule with
	 * its key do not affect each other.
	 */
	record Key(CallParts parts, TaskId id, Kind kind) {

	}

}
