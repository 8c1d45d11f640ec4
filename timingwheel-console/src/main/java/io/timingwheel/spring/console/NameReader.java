package io.timingwheel.spring.console;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.actuate.TaskDescriptors.TaskDescriptor;
import io.timingwheel.spring.aop.internal.delayed.TaskMethodRegistry;
import io.timingwheel.spring.console.LiveFigures.NameFigures;
import io.timingwheel.spring.console.LiveFigures.NameTasks;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SecurityContext;

/**
 * Reads the tasks of names for the page. Thread-safe.
 */
final class NameReader {

	/** How many recurring methods are shown. */
	private static final int MAX_METHODS = 100;

	/** Of how many names the tasks are searched for schedules. */
	private static final int SCHEDULED_NAMES = 10;

	/** How many tasks of such a name are looked at. */
	private static final int SCHEDULED_TASKS = 20;

	/** A name with more tasks in memory is not searched: this would take too long. */
	private static final int MAX_SEARCHED = 1000;

	/** How many dead tasks of a name are shown one by one. */
	private static final int DEAD = 10;

	private final DelayedTasksEndpoint tasks;

	private final TaskPolicies policies;

	private final Supplier<List<String>> recurring;

	NameReader(DelayedTasksEndpoint tasks, TaskPolicies policies, Supplier<List<String>> recurring) {
		this.tasks = tasks;
		this.policies = policies;
		this.recurring = recurring;
	}

	@Nullable NameTasks read(String name, SecurityContext user) {
		return (this.tasks.tasksOfName(user, name, null, null, null).getBody() instanceof NameDescriptor tasks)
				? new NameTasks(tasks.counts(), limits(this.policies.of(name)), tasks.next(), latest(tasks.dead()))
				: null;
	}

	private static @Nullable List<TaskDescriptor> latest(@Nullable List<TaskDescriptor> dead) {
		return (dead != null) ? dead.subList(0, Math.min(DEAD, dead.size())) : null;
	}

	private static Map<String, String> limits(PolicySettings policy) {
		Map<String, String> limits = new LinkedHashMap<>();
		add(limits, "Attempts", policy.maxAttempts());
		add(limits, "At once", policy.maxConcurrent());
		add(limits, "At once per key", policy.maxConcurrentPerKey());
		add(limits, "Rate", policy.rate());
		return limits;
	}

	private static void add(Map<String, String> limits, String label, @Nullable Object value) {
		if (value != null) {
			limits.put(label, value.toString());
		}
	}

	@Nullable DeadDescriptor dead(String name, @Nullable String cursor, SecurityContext user) {
		return (this.tasks.tasksOfName(user, name, "true", null, cursor).getBody() instanceof DeadDescriptor dead)
				? dead : null;
	}

	@Nullable TaskDescriptor find(String name, @Nullable String keyOrId, SecurityContext user) {
		return (keyOrId != null && !keyOrId.isEmpty()
				&& this.tasks.task(user, new String[] { name, keyOrId }, null, null, null)
					.getBody() instanceof TaskDescriptor task) ? task : null;
	}

	List<TaskDescriptor> schedules(LiveQuery query, SecurityContext user) {
		List<TaskDescriptor> tasks = new ArrayList<>();
		this.recurring.get().stream().filter(query::matches).limit(MAX_METHODS).forEach((name) -> {
			TaskDescriptor task = find(name, TaskMethodRegistry.RECURRING_KEY, user);
			if (task != null) {
				tasks.add(task);
			}
		});
		return tasks;
	}

	/**
	 * The schedules that code has stored by name and key. The names with the most tasks
	 * come first, and the others are found by the filter.
	 */
	List<TaskDescriptor> keyedSchedules(List<NameFigures> all, LiveQuery query, SecurityContext user) {
		Set<String> methods = Set.copyOf(this.recurring.get());
		List<String> names = all.stream()
			.filter((name) -> name.counts().pending() > 0
					&& (name.counts().durable() || name.counts().pending() <= MAX_SEARCHED))
			.filter((name) -> !methods.contains(name.name()) && query.matches(name.name()))
			.sorted(ConsoleReader.order("pending"))
			.limit(SCHEDULED_NAMES)
			.map(NameFigures::name)
			.toList();
		return this.tasks.schedules(user, names, SCHEDULED_TASKS);
	}

}
