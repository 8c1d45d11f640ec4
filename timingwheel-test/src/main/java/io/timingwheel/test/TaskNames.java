package io.timingwheel.test;

import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.RelaxedNames;
import org.jspecify.annotations.Nullable;

/**
 * The names of tasks that a test may give to {@link VirtualTime}, so that a wrong name is
 * not silent. What earlier test methods have scheduled does not count: a test must not
 * depend on them. Thread-safe.
 */
final class TaskNames {

	/** How many names a message has at most. */
	private static final int NEAREST = 3;

	private final Supplier<VirtualParts> parts;

	private final InjectedFaults faults;

	/** The names of the application itself, {@code null} before the first test method. */
	private @Nullable Set<String> fromTheStart;

	TaskNames(Supplier<VirtualParts> parts, InjectedFaults faults) {
		this.parts = parts;
		this.faults = faults;
	}

	/**
	 * Begins a test method.
	 */
	synchronized void reset() {
		if (this.fromTheStart == null) {
			this.fromTheStart = inMemory();
		}
	}

	private Set<String> inMemory() {
		DelayedTaskRegistry tasks = this.parts.get().tasks();
		return tasks.names().stream().filter(tasks::isKnown).collect(Collectors.toSet());
	}

	/**
	 * Checks a name.
	 * @param method the method of {@link VirtualTime} that the test has called
	 * @return the name that the runs of these tasks have
	 * @throws IllegalArgumentException if no task has the name
	 */
	String check(String method, String name) {
		String durable = handlerName(name);
		if (durable != null) {
			return durable;
		}
		if (!isInMemory(name)) {
			Set<String> names = new HashSet<>(known());
			names.addAll(durableNames());
			throw new IllegalArgumentException(
					"%s: no task has the name \"%s\". %s. Correct the name. If code gives the".formatted(method, name,
							nearest(names, name)) + " name to a task, schedule the task before this call");
		}
		return name;
	}

	/**
	 * Checks the name of durable tasks.
	 * @param method the method of {@link VirtualTime} that the test has called
	 * @return the name that the runs of these tasks have
	 * @throws IllegalArgumentException if no durable task has the name
	 */
	String checkDurable(String method, String name) {
		String durable = handlerName(name);
		if (durable != null) {
			return durable;
		}
		String problem = isInMemory(name) ? "the tasks with the name \"%s\" are in memory, and a crash would end them"
				: "no method with durable = true has the name \"%s\"";
		throw new IllegalArgumentException("%s: %s. %s. %s".formatted(method, problem.formatted(name),
				nearest(durableNames(), name), isInMemory(name) ? "Add durable = true to the method, or use failNext"
						: "Correct the name, or add durable = true to the method"));
	}

	private @Nullable String handlerName(String name) {
		DurableParts durable = this.parts.get().durable();
		return (durable != null) ? durable.methodName(name) : null;
	}

	private Set<String> durableNames() {
		DurableParts durable = this.parts.get().durable();
		return (durable != null) ? durable.methodNames() : Set.of();
	}

	private boolean isInMemory(String name) {
		return known().contains(name) || this.faults.hasRun(name)
				|| !this.parts.get().tasks().memoryTasks().first(name, 1).isEmpty();
	}

	private synchronized Set<String> known() {
		return (this.fromTheStart != null) ? this.fromTheStart : inMemory();
	}

	private static String nearest(Collection<String> names, String name) {
		List<String> nearest = RelaxedNames.nearest(new TreeSet<>(names), name, NEAREST);
		return switch (nearest.size()) {
			case 0 -> "There are no such tasks";
			case 1 -> "The only name is " + nearest.get(0);
			default -> "The nearest names are " + String.join(", ", nearest);
		};
	}

}
