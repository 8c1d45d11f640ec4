package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.support.DurableTaskManager;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Reads the pending tasks in memory and in the store, and describes them.
 */
final class PendingTasks {

	/** How many tasks a message names. */
	private static final int NAMED = 10;

	private final DelayedTaskRegistry tasks;

	private final @Nullable DurableTaskManager durableTasks;

	PendingTasks(DelayedTaskRegistry tasks, @Nullable DurableTaskManager durableTasks) {
		this.tasks = tasks;
		this.durableTasks = durableTasks;
	}

	List<PendingTask> all() {
		Set<String> names = new TreeSet<>(this.tasks.names());
		if (this.durableTasks != null) {
			names.addAll(this.durableTasks.counts().keySet());
		}
		return sorted(names.stream().flatMap((name) -> of(name).stream()).distinct().toList());
	}

	List<PendingTask> of(String name) {
		List<PendingTask> pending = new ArrayList<>();
		this.tasks.pending(name, Integer.MAX_VALUE)
			.forEach((task) -> pending.add(new PendingTask(task.id(), task.name(), task.key(), task.dueAt(), false)));
		if (this.durableTasks != null) {
			this.durableTasks.pending(name, Integer.MAX_VALUE)
				.forEach((task) -> pending.add(
						new PendingTask(task.id(), task.name(), task.key(), Instant.ofEpochMilli(task.dueAt()), true)));
		}
		return sorted(pending);
	}

	private static List<PendingTask> sorted(List<PendingTask> tasks) {
		return tasks.stream().sorted(Comparator.comparing(PendingTask::dueAt)).toList();
	}

	/**
	 * Describes tasks for a message.
	 */
	static String describe(List<PendingTask> tasks, Instant now) {
		if (tasks.isEmpty()) {
			return "nothing is pending";
		}
		String named = tasks.stream()
			.limit(NAMED)
			.map((task) -> describe(task) + " (" + due(task.dueAt(), now).replaceFirst("^is ", "") + ")")
			.collect(Collectors.joining(", "));
		String more = (tasks.size() > NAMED) ? " and %d more".formatted(tasks.size() - NAMED) : "";
		return "pending " + ((tasks.size() == 1) ? "is " : "are ") + named + more;
	}

	private static String describe(PendingTask task) {
		return task.name() + ((task.key() != null) ? " " + task.key() : "");
	}

	static String due(Instant dueAt, Instant now) {
		Duration left = Duration.between(now, dueAt);
		if (left.isZero()) {
			return "is due now";
		}
		return left.isNegative() ? "was due %s ago".formatted(print(left.negated())) : "is due in " + print(left);
	}

	static String print(Duration duration) {
		return duration.isZero() ? "0s" : DurationFormatterUtils.print(duration, DurationFormat.Style.COMPOSITE);
	}

}
