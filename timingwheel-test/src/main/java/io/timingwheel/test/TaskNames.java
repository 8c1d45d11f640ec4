package io.timingwheel.test;

import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;

/**
 * The names of tasks that a test may give to {@link VirtualTime}, so that a wrong name is
 * not silent. What earlier test methods have scheduled does not count: a test must not
 * depend on them. Thread-safe.
 */
final class TaskNames {

	private final Supplier<VirtualParts> parts;

	private final InjectedFaults faults;

	/** The names in memory of the application itself. */
	private @Nullable Set<String> fromTheStart;

	TaskNames(Supplier<VirtualParts> parts, InjectedFaults faults) {
		this.parts = parts;
		this.faults = faults;
	}

	/**
	 * The names in memory that the application has before the first test method.
	 */
	synchronized Set<String> fromTheStart() {
		if (this.fromTheStart == null) {
			DelayedTaskRegistry tasks = this.parts.get().tasks();
			this.fromTheStart = tasks.names().stream().filter(tasks::isKnown).collect(Collectors.toSet());
		}
		return this.fromTheStart;
	}

	/**
	 * Checks a name.
	 * @throws IllegalArgumentException if no task has the name
	 */
	String check(String method, String name, boolean durableOnly) {
		DurableParts durable = this.parts.get().durable();
		String handler = (durable != null) ? durable.methodName(name) : null;
		if (handler != null) {
			return handler;
		}
		boolean inMemory = fromTheStart().contains(name) || this.faults.hasRun(name)
				|| !this.parts.get().tasks().memoryTasks().first(name, 1).isEmpty();
		if (inMemory && !durableOnly) {
			return name;
		}
		Set<String> names = new TreeSet<>(durableOnly ? Set.of() : fromTheStart());
		if (durable != null) {
			names.addAll(durable.methodNames());
		}
		String problem = inMemory
				? "the tasks with the name \"%s\" are in memory, and a crash would end them. Add durable = true to the method, or use failNext"
				: "no %s has the name \"%%s\". Correct the name%s".formatted(
						durableOnly ? "method with durable = true" : "task",
						durableOnly ? "" : ". If code gives the name to a task, schedule the task before this call");
		throw new IllegalArgumentException(
				"%s: %s. The names are %s".formatted(method, problem.formatted(name), names));
	}

}
