package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/**
 * Reads the pending tasks in memory and in the store, and describes them.
 */
final class PendingTasks {

	/** How many tasks a message names. */
	private static final int NAMED = 10;

	private final Supplier<VirtualParts> parts;

	PendingTasks(Supplier<VirtualParts> parts) {
		this.parts = parts;
	}

	List<PendingTask> all() {
		VirtualParts parts = this.parts.get();
		Set<String> names = new TreeSet<>(parts.tasks().names());
		if (parts.durable() != null) {
			names.addAll(parts.durable().storedNames());
		}
		return sorted(names.stream().flatMap((name) -> of(name).stream()).distinct().toList());
	}

	List<PendingTask> of(String name) {
		VirtualParts parts = this.parts.get();
		List<PendingTask> pending = new ArrayList<>();
		parts.tasks()
			.memoryTasks()
			.first(name, Integer.MAX_VALUE)
			.forEach((task) -> pending.add(new PendingTask(task.id(), task.name(), task.key(), task.dueAt(), false)));
		if (parts.durable() != null) {
			pending.addAll(parts.durable().pending(name));
		}
		return sorted(pending);
	}

	private static List<PendingTask> sorted(List<PendingTask> tasks) {
		return tasks.stream().sorted(Comparator.comparing(PendingTask::dueAt)).toList();
	}

	/**
	 * Describes tasks for a message.
	 */
	static String describe(List<PendingTask> tasks, String first, Instant now) {
		return describe(Stream
			.concat(tasks.stream().filter((task) -> task.name().equals(first)),
					tasks.stream().filter((task) -> !task.name().equals(first)))
			.toList(), now);
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
