package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

/** Describes pending tasks for messages. */
final class Descriptions {

	/** How many tasks a message names. */
	private static final int NAMED = 10;

	private Descriptions() {
	}

	/** Describes all pending tasks, those of a name first. */
	static String pending(VirtualTime time, String first) {
		return describe(
				time.tasks().stream().sorted(Comparator.comparing((task) -> !task.name().equals(first))).toList(),
				time.now());
	}

	static String describe(List<PendingTask> tasks, Instant now) {
		if (tasks.isEmpty()) {
			return "nothing is pending";
		}
		String named = tasks.stream()
			.limit(NAMED)
			.map((task) -> task.name() + ((task.key() != null) ? " " + task.key() : "") + " ("
					+ due(task.dueAt(), now).replaceFirst("^is ", "") + ")")
			.collect(Collectors.joining(", "));
		String more = (tasks.size() > NAMED) ? " and %d more".formatted(tasks.size() - NAMED) : "";
		return "pending " + ((tasks.size() == 1) ? "is " : "are ") + named + more;
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
