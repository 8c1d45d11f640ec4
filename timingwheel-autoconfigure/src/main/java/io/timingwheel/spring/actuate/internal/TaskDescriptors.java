package io.timingwheel.spring.actuate.internal;

import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.timingwheel.spring.actuate.internal.StoredTasks.StoredTaskCounts;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * The answers of the endpoint {@code delayedtasks}. Their components are the fields of
 * the JSON.
 */
public final class TaskDescriptors {

	public static final String MASK = "******";

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
	 * How many tasks fall due in each of 60 equal spans of the time ahead, by name.
	 *
	 * @param tasks the counts of the names with the most tasks in this time
	 * @param complete whether these are all names with a task in this time
	 */
	public record ForecastDescriptor(Instant from, Duration span, Map<String, StoredTasks.Due> tasks,
			boolean complete) implements OperationResponseBody {

	}

	/**
	 * Dead tasks of a name, grouped by their errors, the group with the latest death
	 * first; how many are in the groups, and whether these are all. The cursor leads to
	 * earlier deaths, {@code null} if there are none.
	 */
	public record DeadDescriptor(String name, List<Group> groups, int examined, boolean complete,
			@Nullable String cursor) {

		public static final int MAX_GROUPS = 100;

		/** How many characters of an error count. */
		public static final int MAX_ERROR = 250;

		/** One hundred groups then take no more than 90 KB. */
		private static final int MAX_ERROR_BYTES = 700;

		/**
		 * The first {@link #MAX_ERROR} characters of an error, by which dead tasks are
		 * grouped, without half of a character.
		 */
		public static String beginOf(String error) {
			int end = Math.min(error.length(), MAX_ERROR);
			boolean half = end < error.length() && Character.isHighSurrogate(error.charAt(end - 1));
			return error.substring(0, half ? end - 1 : end);
		}

		DeadDescriptor shown(boolean showErrors) {
			return new DeadDescriptor(this.name, this.groups.stream()
				.map((group) -> group.withError(showErrors ? PageSize.beginOf(group.error, MAX_ERROR_BYTES) : MASK))
				.toList(), this.examined, this.complete, this.cursor);
		}

		/**
		 * Dead tasks whose errors begin with the same {@link #MAX_ERROR} characters,
		 * empty for no error, and the id of the one that died last. The id of the group
		 * depends on the error only, and does not show it.
		 */
		public record Group(String error, String group, int count, Instant first, Instant last, String id) {

			private Group withError(String shown) {
				return new Group(shown, this.group, this.count, this.first, this.last, this.id);
			}

		}

	}

	/**
	 * How many dead tasks one call has requeued or deleted, and how many stay dead
	 * because their keys have pending tasks.
	 */
	public record StepDescriptor(int affected, int skipped, boolean remaining, @Nullable String cursor) {

	}

	/**
	 * A task. The state, the attempt, the deliveries and the error are those of a stored
	 * task, and {@code null} for a task in memory.
	 *
	 * @param attempt the number of the next or current attempt
	 * @param deliveries how often it has begun
	 * @param schedule the schedule of a recurring task, such as {@code every(PT5M)}
	 * @param next when a recurring task runs next. A stored task has its next regular
	 * time, {@code null} if this depends on the end of the present run. A task in memory
	 * has the time at which it is due, {@code null} during a run
	 * @param unknown {@code true} for a stored task whose method this node does not have,
	 * {@code null} for another task
	 */
	public record TaskDescriptor(String id, String name, @JsonInclude(Include.ALWAYS) @Nullable String key,
			Instant dueAt, @Nullable State state, @Nullable Integer attempt, @Nullable Integer deliveries,
			@Nullable String error, @Nullable String schedule, @Nullable Instant next, @Nullable Boolean unknown,
			@Nullable Instant diedAt) {

		static TaskDescriptor of(PendingTaskSnapshot task) {
			return new TaskDescriptor(task.id(), task.name(), task.key(), task.dueAt(), null, null, null, null,
					task.schedule(), task.next(), null, null);
		}

		/**
		 * A stored task with its schedule, and the time of its run by the schedule. This
		 * is later than the due time of the task if the run is an additional one, or if
		 * the task has got another schedule while it was running or overdue.
		 */
		public TaskDescriptor withSchedule(String text, Instant scheduledAt) {
			return new TaskDescriptor(this.id, this.name, this.key, this.dueAt, this.state, this.attempt,
					this.deliveries, this.error, text, next(text, scheduledAt), this.unknown, this.diedAt);
		}

		/** The time after the present run, or after the present attempts at a run. */
		private @Nullable Instant next(String text, Instant scheduledAt) {
			boolean begun = this.state != State.PENDING || !Integer.valueOf(1).equals(this.attempt);
			if (scheduledAt.isAfter(this.dueAt) || (!begun && scheduledAt.equals(this.dueAt))) {
				return scheduledAt;
			}
			try {
				Schedule schedule = Schedule.parse(text);
				return schedule.isFixedDelay() ? null : schedule.next(scheduledAt, this.dueAt);
			}
			catch (IllegalArgumentException ex) {
				// A newer release has stored a schedule that this one does not know.
				return null;
			}
		}

		/** A list shows as much of an error as the groups of the dead tasks do. */
		TaskDescriptor withBeginOfError() {
			return (this.error != null) ? withError(DeadDescriptor.beginOf(this.error)) : this;
		}

		TaskDescriptor masked() {
			return (this.error != null) ? withError(MASK) : this;
		}

		private TaskDescriptor withError(String error) {
			return new TaskDescriptor(this.id, this.name, this.key, this.dueAt, this.state, this.attempt,
					this.deliveries, error, this.schedule, this.next, this.unknown, this.diedAt);
		}

		public enum State {

			PENDING, RUNNING, DEAD

		}

	}

	/**
	 * An answer that durable tasks give without the library of the actuator. Its fields
	 * are those of the JSON.
	 */
	public record ResultDescriptor(@JsonUnwrapped Object result) implements OperationResponseBody {

	}

	/** What is wrong with a request, in a sentence. */
	public record ErrorDescriptor(String error) implements OperationResponseBody {

	}

}
