package io.timingwheel.spring.task.support;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

/**
 * The names of tasks. As each becomes a tag of metrics their number is limited.
 */
final class TaskNames {

	static final int LIMIT = 1000;

	private final Map<String, NamedTasks> byName = new ConcurrentHashMap<>();

	private final List<Consumer<String>> listeners = new ArrayList<>();

	private final DelayedTaskRegistry owner;

	private final NamedTasks overflow;

	TaskNames(DelayedTaskRegistry owner) {
		this.owner = owner;
		this.overflow = new OverflowTasks(owner);
	}

	/**
	 * The tasks of a name, which is new from now on if it was not known.
	 */
	NamedTasks register(String name) {
		NamedTasks tasks = this.byName.get(name);
		return (tasks != null) ? tasks : add(name);
	}

	private synchronized NamedTasks add(String name) {
		NamedTasks known = this.byName.get(name);
		if (known != null) {
			return known;
		}
		boolean full = name.equals(OverflowTasks.NAME) || this.byName.size() >= LIMIT - 1;
		NamedTasks tasks = full ? this.overflow : new NamedTasks(name, this.owner);
		if (this.byName.putIfAbsent(tasks.name(), tasks) == null) {
			this.listeners.forEach((listener) -> listener.accept(tasks.name()));
		}
		return tasks;
	}

	/**
	 * Tells of each name once, those known already at once.
	 */
	synchronized void onName(Consumer<String> listener) {
		this.byName.keySet().forEach(listener);
		this.listeners.add(listener);
	}

	/**
	 * The tasks of a name.
	 */
	NamedTasks get(String name) {
		return this.byName.getOrDefault(name, this.overflow);
	}

	/**
	 * The tasks of a name, some of which may be kept in memory from now on.
	 */
	NamedTasks declare(String name) {
		NamedTasks tasks = register(name);
		tasks.declared();
		return tasks;
	}

	/**
	 * Whether a name was declared, rather than only counted.
	 */
	boolean isKnown(String name) {
		NamedTasks tasks = this.byName.get(name);
		return tasks != null && tasks.isDeclared();
	}

	Collection<NamedTasks> all() {
		return this.byName.values();
	}

}
