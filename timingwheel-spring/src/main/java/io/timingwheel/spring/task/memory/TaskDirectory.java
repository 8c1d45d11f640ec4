package io.timingwheel.spring.task.memory;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import io.timingwheel.spring.task.internal.UserErrors;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * The tasks of one wheel by their names. A name stays known until the application ends.
 * Thread-safe.
 */
final class TaskDirectory {

	private static final Log logger = LogFactory.getLog(TaskDirectory.class);

	/** So many names are probably made up at run time. */
	private static final int MANY = 1000;

	private final Map<String, NamedTasks> byName = new ConcurrentHashMap<>();

	private final List<Consumer<String>> listeners = new ArrayList<>();

	private final TaskEnvironment environment;

	/** Stands for each name that is not known, and never has a task. */
	private final NamedTasks unknown;

	TaskDirectory(TaskEnvironment environment) {
		this.environment = environment;
		this.unknown = new NamedTasks("", environment);
	}

	/**
	 * The tasks of a name, none if the name is not known.
	 */
	NamedTasks get(String name) {
		return this.byName.getOrDefault(name, this.unknown);
	}

	/**
	 * Makes a name known.
	 * @return its tasks
	 */
	NamedTasks register(String name) {
		NamedTasks tasks = this.byName.get(name);
		return (tasks != null) ? tasks : add(name);
	}

	/**
	 * Makes a name known as that of tasks in memory.
	 * @return its tasks
	 */
	NamedTasks declare(String name) {
		NamedTasks tasks = register(name);
		tasks.setDeclared();
		return tasks;
	}

	/**
	 * Whether a name was declared, rather than only registered.
	 */
	boolean isDeclared(String name) {
		NamedTasks tasks = this.byName.get(name);
		return tasks != null && tasks.isDeclared();
	}

	private synchronized NamedTasks add(String name) {
		NamedTasks known = this.byName.get(name);
		if (known != null) {
			return known;
		}
		NamedTasks tasks = new NamedTasks(name, this.environment);
		tasks.setPolicy(this.environment.policies().of(name));
		this.byName.put(name, tasks);
		if (this.byName.size() == MANY) {
			logger.warn("There are " + MANY + " names of tasks, such as \"" + name + "\". Each takes memory until the"
					+ " application ends: use a key rather than a name for what differs from task to task");
		}
		this.listeners.forEach((listener) -> tell(listener, name));
		return tasks;
	}

	/**
	 * Tells a listener of a new name. Its exception is logged only, since the name may
	 * belong to a task that has to be settled.
	 */
	private static void tell(Consumer<String> listener, String name) {
		try {
			listener.accept(name);
		}
		catch (Throwable ex) {
			UserErrors.log(logger::warn, "A listener for the names of tasks threw an exception for " + name, ex);
		}
	}

	/**
	 * Calls a listener once for each name: at once for the known names, later for others.
	 */
	synchronized void onName(Consumer<String> listener) {
		this.byName.keySet().forEach(listener);
		this.listeners.add(listener);
	}

	/**
	 * The tasks of all known names; a live view.
	 */
	Collection<NamedTasks> all() {
		return this.byName.values();
	}

	/**
	 * How many tasks of all names have not begun.
	 */
	long pendingCount() {
		return all().stream().mapToLong(NamedTasks::pendingCount).sum();
	}

	/**
	 * How many tasks of all names have begun and not ended. The figure may be too high
	 * for a moment, but never too low.
	 */
	long runningCount() {
		return all().stream().mapToLong((tasks) -> tasks.recorder().running()).sum();
	}

}
