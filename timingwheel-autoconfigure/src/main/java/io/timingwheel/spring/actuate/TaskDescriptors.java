package io.timingwheel.spring.actuate;

import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonInclude;
import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.actuate.internal.StoredTaskCounts;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails.State;
import io.timingwheel.spring.actuate.internal.StoredTaskDetails;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The answers of {@link DelayedTasksEndpoint}. Their components are the fields of the
 * JSON.
 *
 * @since 0.1
 */
public final class TaskDescriptors {

	private static final String MASK = "******";

	private TaskDescriptors() {
	}

	/**
	 * A page of names with their figures, the sums over all names that the search finds,
	 * and the cursor of the next page, {@code null} if there is none. The nodes that
	 * share the store, the latest report first, are {@code null} without a store and
	 * after the first page.
	 */
	public record TasksDescriptor(Map<String, CountsDescriptor> tasks, TotalsDescriptor totals,
			@Nullable List<StoreNode.Reported> nodes, @Nullable String cursor) implements OperationResponseBody {

	}

	/**
	 * The number of several names, and the sums of their figures. They are estimated if
	 * the figures of one name are.
	 */
	public record TotalsDescriptor(int names, long pending, long running, long completed, long failed, long cancelled,
			long expired, long overdue, long dead, long waiting, boolean estimated) {

		/** Adds the figures of names. */
		public static TotalsDescriptor of(Collection<CountsDescriptor> names) {
			return new TotalsDescriptor(names.size(), sum(names, CountsDescriptor::pending),
					sum(names, CountsDescriptor::running), sum(names, CountsDescriptor::completed),
					sum(names, CountsDescriptor::failed), sum(names, CountsDescriptor::cancelled),
					sum(names, CountsDescriptor::expired), sum(names, CountsDescriptor::overdue),
					sum(names, CountsDescriptor::dead), sum(names, CountsDescriptor::waiting),
					names.stream().anyMatch(CountsDescriptor::estimated));
		}

		private static long sum(Collection<CountsDescriptor> names, ToLongFunction<CountsDescriptor> figure) {
			return names.stream().mapToLong(figure).sum();
		}

	}

	/**
	 * The figures of one name. Each node counts the tasks that have ended on this node.
	 * The figures of stored tasks are the same on all nodes.
	 *
	 * @param expired how many were too late to be started
	 * @param overdue how many stored tasks are past their due time and have not begun
	 * @param dead how many stored tasks have failed for good
	 * @param waiting how many tasks are due and held back by the policy of the name or by
	 * its pause
	 * @param estimated whether the large figures of stored tasks are estimates
	 */
	public record CountsDescriptor(boolean durable, long pending, long running, long completed, long failed,
			long cancelled, long expired, long overdue, long dead, boolean paused, long waiting, boolean estimated) {

		static CountsDescriptor of(TaskCounts counts, long waiting, boolean paused, @Nullable StoredTaskCounts stored) {
			StoredTaskCounts now = (stored != null) ? stored
					: new StoredTaskCounts(counts.pending(), 0, counts.running(), 0, false, waiting);
			return new CountsDescriptor(stored != null, now.pending(), now.running(), counts.completed(),
					counts.failed(), counts.cancelled(), counts.expired(), now.overdue(), now.dead(), paused,
					now.waiting(), now.estimated());
		}

	}

	/**
	 * The figures of a name, its pending tasks that are due first and, on the first page
	 * of stored tasks, the ones that died last. The cursor is {@code null} if no page
	 * follows.
	 */
	public record NameDescriptor(String name, CountsDescriptor counts, List<TaskDescriptor> next,
			@Nullable List<TaskDescriptor> dead, @Nullable String cursor) implements OperationResponseBody {

	}

	/**
	 * Dead tasks of a name, grouped by their errors, those that died last first; how many
	 * are in the groups, and whether these are all. The cursor leads to earlier deaths,
	 * {@code null} if there are none.
	 */
	public record DeadDescriptor(String name, List<DeadGroups.Group> groups, int examined, boolean complete,
			@Nullable String cursor) implements OperationResponseBody {

		/** One hundred groups then take no more than 90 KB. */
		private static final int MAX_ERROR_BYTES = 700;

		static DeadDescriptor of(String name, DeadGroups dead, boolean showErrors) {
			return new DeadDescriptor(name, dead.groups()
				.stream()
				.map((group) -> group.withError(showErrors ? PageSize.beginOf(group.error(), MAX_ERROR_BYTES) : MASK))
				.toList(), dead.examined(), dead.complete(), dead.cursor());
		}

	}

	/**
	 * How many dead tasks one call has requeued or deleted, and how many stay dead
	 * because their keys have pending tasks. The caller repeats it with the cursor while
	 * tasks remain.
	 */
	public record StepDescriptor(int affected, int skipped, boolean remaining,
			@Nullable String cursor) implements OperationResponseBody {

		static StepDescriptor of(StoredTasks.DeadStep step) {
			return new StepDescriptor(step.affected(), step.skipped(), step.remaining(), step.cursor());
		}

	}

	/**
	 * A task. The state, the attempt, the deliveries and the error are those of a stored
	 * task, and {@code null} for a task in memory.
	 *
	 * @param attempt the number of the next or current attempt
	 * @param deliveries how often it has begun
	 * @param error the last failure, {@code null} if there was none
	 * @param schedule the schedule of a recurring task, such as {@code every(PT5M)};
	 * {@code null} for another task
	 * @param next when the next regular run of a recurring task is due, {@code null} if
	 * this depends on the end of the present run
	 * @param unknown {@code true} for a stored task whose method this node does not have,
	 * {@code null} for another task
	 * @param diedAt when a dead task died, {@code null} for another task
	 */
	public record TaskDescriptor(String id, String name, @JsonInclude(Include.ALWAYS) @Nullable String key,
			Instant dueAt, @Nullable State state, @Nullable Integer attempt, @Nullable Integer deliveries,
			@Nullable String error, @Nullable String schedule, @Nullable Instant next, @Nullable Boolean unknown,
			@Nullable Instant diedAt) implements OperationResponseBody {

		static TaskDescriptor of(PendingTaskSnapshot task) {
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt(), null, null, null, null,
					task.schedule(), task.next(), null, null);
		}

		static TaskDescriptor of(StoredTaskDetails task) {
			StoredTaskDetails.Times schedule = task.schedule();
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt(), task.state(), task.attempt(),
					task.deliveries(), task.error(), (schedule != null) ? schedule.text() : null,
					(schedule != null) ? next(task, schedule) : null, task.unknown() ? Boolean.TRUE : null,
					task.diedAt());
		}

		/** The time after the present run, or after the present attempts at a run. */
		private static @Nullable Instant next(StoredTaskDetails task, StoredTaskDetails.Times stored) {
			Instant dueAt = task.dueAt();
			Instant scheduledAt = stored.scheduledAt();
			boolean begun = task.state() != State.PENDING || task.attempt() > 1;
			if (scheduledAt.isAfter(dueAt) || (!begun && scheduledAt.equals(dueAt))) {
				return scheduledAt;
			}
			try {
				Schedule schedule = Schedule.parse(stored.text());
				return schedule.isFixedDelay() ? null : schedule.next(scheduledAt, dueAt);
			}
			catch (IllegalArgumentException ex) {
				// A newer release has stored a schedule that this one does not know.
				return null;
			}
		}

		/** A list shows as much of an error as the groups of the dead tasks do. */
		TaskDescriptor withBeginOfError() {
			return (this.error != null) ? withError(DeadGroups.beginOf(this.error)) : this;
		}

		TaskDescriptor masked() {
			return (this.error != null) ? withError(MASK) : this;
		}

		private TaskDescriptor withError(String error) {
			return new TaskDescriptor(this.id, this.name, this.key, this.dueAt, this.state, this.attempt,
					this.deliveries, error, this.schedule, this.next, this.unknown, this.diedAt);
		}

	}

	/** What is wrong with a request, in a sentence. */
	public record ErrorDescriptor(String error) implements OperationResponseBody {

	}

}
