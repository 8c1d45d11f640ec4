package io.timingwheel.spring.durable.admin;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;

import io.timingwheel.spring.actuate.internal.DeadGroups;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadStep;
import io.timingwheel.spring.durable.node.TaskPages;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.StoredTask;
import org.jspecify.annotations.Nullable;

/**
 * Requeues, deletes and groups dead tasks. A call reads one page and filters it here,
 * since no index finds a part of a text. The caller goes on with the cursor. Thread-safe.
 *
 * @since 0.1
 */
public final class DeadTasks implements StoredTasks.Dead {

	/** How many dead tasks a call groups at most. */
	private static final int MAX_EXAMINED = 2000;

	private final DelayedTaskStore store;

	private final TaskPages pages;

	private final Function<List<String>, List<Requeue>> requeue;

	/**
	 * Creates an object for the dead tasks of a store.
	 * @param requeue makes dead tasks pending, and tells the node
	 */
	public DeadTasks(DelayedTaskStore store, TaskPages pages, Function<List<String>, List<Requeue>> requeue) {
		this.store = store;
		this.pages = pages;
		this.requeue = requeue;
	}

	@Override
	public DeadStep requeueAll(String name, DeadSelection which, @Nullable String cursor) {
		Step step = step(name, which, cursor);
		List<Requeue> results = step.ids.isEmpty() ? List.of() : this.requeue.apply(step.ids);
		return step.reply(Collections.frequency(results, Requeue.REQUEUED),
				Collections.frequency(results, Requeue.KEY_PENDING));
	}

	@Override
	public DeadStep deleteAll(String name, DeadSelection which, @Nullable String cursor) {
		Step step = step(name, which, cursor);
		return step.reply(step.ids.isEmpty() ? 0 : this.store.discard(step.ids), 0);
	}

	/**
	 * Finds the tasks of one page. Those that die from the first call on are left alone:
	 * tasks that fail at once would be requeued without an end.
	 */
	private Step step(String name, DeadSelection which, @Nullable String cursor) {
		Predicate<@Nullable String> filter = DeadFilter.of(which);
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor) : new DeadCursor(this.store.now(), null);
		Page page = this.pages.read(name, Order.DEAD_OLDEST_FIRST, at.after(), DelayedTaskStore.MAX_STEP);
		List<String> ids = new ArrayList<>();
		boolean remaining = page.more();
		for (StoredTask task : page.tasks()) {
			if (task.position().time() > at.until()) {
				remaining = false;
				break;
			}
			if (filter.test(task.error())) {
				ids.add(task.id());
			}
			at = at.after(task.position());
		}
		return new Step(ids, remaining ? at : null);
	}

	@Override
	public DeadGroups byError(String name, @Nullable String cursor) {
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor) : new DeadCursor(DelayedTaskStore.MAX_TIME, null);
		Map<String, DeadGroups.Group> groups = new LinkedHashMap<>();
		int examined = 0;
		Page page = this.pages.read(name, Order.DEAD_LATEST_FIRST, at.after(), MAX_EXAMINED);
		boolean more = page.more();
		for (StoredTask task : page.tasks()) {
			DeadGroups.Group group = group(task);
			if (groups.size() == DeadGroups.MAX_GROUPS && !groups.containsKey(group.error())) {
				more = true;
				break;
			}
			groups.merge(group.error(), group, DeadTasks::plus);
			examined++;
			at = at.after(task.position());
		}
		List<DeadGroups.Group> latest = groups.values()
			.stream()
			.sorted(Comparator.comparing(DeadGroups.Group::last).reversed())
			.toList();
		return new DeadGroups(latest, examined, !more && cursor == null, more ? at.toString() : null);
	}

	private static DeadGroups.Group group(StoredTask task) {
		String error = DeadGroups.beginOf(Objects.requireNonNullElse(task.error(), ""));
		Instant diedAt = Instant.ofEpochMilli(task.position().time());
		return new DeadGroups.Group(error, DeadFilter.groupOf(error), 1, diedAt, diedAt, task.id());
	}

	private static DeadGroups.Group plus(DeadGroups.Group group, DeadGroups.Group other) {
		DeadGroups.Group latest = other.last().isAfter(group.last()) ? other : group;
		Instant first = other.first().isBefore(group.first()) ? other.first() : group.first();
		return new DeadGroups.Group(group.error(), group.group(), group.count() + other.count(), first, latest.last(),
				latest.id());
	}

	private record Step(List<String> ids, @Nullable DeadCursor next) {

		DeadStep reply(int affected, int skipped) {
			return new DeadStep(affected, skipped, this.next != null,
					(this.next != null) ? this.next.toString() : null);
		}

	}

}
