package io.timingwheel.spring.durable.call;

import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskRecorder;

/**
 * What all calls have in common. Thread-safe.
 *
 * @param store the store
 * @param handlers what this application can run
 * @param recorders gives the recorder of a name
 * @param nanoTime the clock of this node, in nanoseconds
 * @param node is told of the tasks that are stored and moved
 * @since 0.1
 */
public record CallParts(DelayedTaskStore store, DurableHandlers handlers, Function<String, TaskRecorder> recorders,
		LongSupplier nanoTime, Expecting node) {

	/**
	 * The recorder of a name, or of the method to which the name belongs.
	 */
	TaskRecorder recorder(String name) {
		return this.recorders.apply(this.handlers.canonicalName(name));
	}

	/**
	 * A key under all names of its method, the current name first.
	 */
	List<TaskId> ids(TaskId id) {
		return this.handlers.allNames(id.name()).stream().map((name) -> new TaskId(name, id.key())).toList();
	}

	/**
	 * The node of this application.
	 *
	 * @since 0.1
	 */
	public interface Expecting {

		/**
		 * Called when it is certain that a task was stored or moved.
		 * @param dueAt when it is due, in milliseconds since the epoch
		 * @param now the time by the store's clock, in milliseconds since the epoch
		 */
		void expect(String name, long dueAt, long now);

	}

}
