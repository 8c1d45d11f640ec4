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
 * @param nanoTime the clock of this node
 * @param node is told of the tasks that are stored and moved
 * @since 0.1
 */
public record CallParts(DelayedTaskStore store, DurableHandlers handlers, Function<String, TaskRecorder> recorders,
		LongSupplier nanoTime, Expecting node) {

	/** Of the method to which the name belongs. */
	TaskRecorder recorder(String name) {
		return this.recorders.apply(this.handlers.canonicalName(name));
	}

	/** A key under all names of its method, the current name first. */
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
		 * It is certain that a task was stored or moved. The times are those of the
		 * store.
		 */
		void expect(String name, long dueAt, long now);

	}

}
