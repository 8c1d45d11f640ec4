package io.timingwheel.spring.durable.support;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTask;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

/**
 * Requeues and deletes many dead tasks, and groups them by their errors. A call reads
 * pages of dead tasks in the order of their deaths, and filters them by their errors
 * here, since no index finds a part of a text. No call holds a lock longer than for one
 * page. Thread-safe.
 *
 * @since 0.1
 */
public final class DeadTaskEditor {

	/** How many tasks a call affects at most. */
	private static final int MAX_AFFECTED = DelayedTaskStore.MAX_STEP;

	/** How long a call goes on with further pages. */
	private static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long MAX_READ_NANOS = TimeUnit.MILLISECONDS.toNanos(25);

	private final DelayedTaskStore store;

	private final DurableHandlerRegistry handlers;

	private final Runnable changed;

	/**
	 * Creates an editor.
	 * @param store the store
	 * @param handlers the handlers of this node
	 * @param changed runs when a task is pending again
	 */
	DeadTaskEditor(DelayedTaskStore store, DurableHandlerRegistry handlers, Runnable changed) {
		this.store = store;
		this.handlers = handlers;
		this.changed = changed;
	}

	/**
	 * Makes a dead task pending again.
	 * @param id its id
	 * @return the result
	 */
	public Requeue requeue(String id) {
		Requeue result = this.store.requeue(id);
		if (result == Requeue.REQUEUED) {
			this.changed.run();
		}
		return result;
	}

	/**
	 * Deletes a dead task.
	 * @param id its id
	 * @return whether it was dead
	 */
	public boolean delete(String id) {
		return this.store.discard(id);
	}

	/**
	 * Makes dead tasks of a name, and of the earlier names of its handler, pending again.
	 * Those that died first come first. A task whose key has a pending task stays dead.
	 * One call makes a limited number pending; the caller goes on with the cursor of the
	 * reply.
	 * @param name the name
	 * @param error text that the error of a task contains, {@code null} for all tasks
	 * @param cursor the cursor of the reply before, {@code null} for the first call
	 * @return the result
	 * @throws IllegalArgumentException if there is no such cursor
	 */
	public DeadStep requeueAll(String name, @Nullable String error, @Nullable String cursor) {
		return step(name, error, cursor, (ids) -> {
			List<Requeue> results = this.store.requeueAll(ids);
			int requeued = count(results, Requeue.REQUEUED);
			if (requeued > 0) {
				this.changed.run();
			}
			return new int[] { requeued, count(results, Requeue.KEY_PENDING) };
		});
	}

	private static int count(List<Requeue> results, Requeue result) {
		return (int) results.stream().filter((one) -> one == result).count();
	}

	/**
	 * Deletes dead tasks as {@link #requeueAll} requeues them.
	 * @param name the name
	 * @param error text that the error of a task contains, {@code null} for all tasks
	 * @param cursor the cursor of the reply before, {@code null} for the first call
	 * @return the result
	 * @throws IllegalArgumentException if there is no such cursor
	 */
	public DeadStep deleteAll(String name, @Nullable String error, @Nullable String cursor) {
		return step(name, error, cursor, (ids) -> new int[] { this.store.discardAll(ids), 0 });
	}

	/**
	 * Changes dead tasks until enough are affected, the time is over, or none is left.
	 * Tasks that die during this call and those that follow it are not affected.
	 * Otherwise tasks that fail at once would be requeued without an end.
	 * @param change changes tasks, and gives how many it has affected and skipped
	 */
	private DeadStep step(String name, @Nullable String error, @Nullable String cursor,
			Function<List<String>, int[]> change) {
		List<String> names = this.handlers.allNames(name);
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor) : new DeadCursor(0, this.store.now(), null);
		long start = System.nanoTime();
		int affected = 0;
		int skipped = 0;
		do {
			if (at.name() >= names.size()) {
				return new DeadStep(affected, skipped, false, null);
			}
			DeadTasks page = this.store
				.dead(new DeadQuery(names.get(at.name()), false, at.after(), DelayedTaskStore.MAX_STEP));
			List<String> ids = new ArrayList<>();
			boolean last = !page.more();
			for (DeadTask task : page.tasks()) {
				if (task.diedAt() > at.until()) {
					last = true;
					break;
				}
				if (ids.size() == MAX_AFFECTED - affected) {
					last = false;
					break;
				}
				if (error == null || (task.error() != null && task.error().contains(error))) {
					ids.add(task.id());
				}
				at = at.after(task.position());
			}
			if (!ids.isEmpty()) {
				int[] counts = change.apply(ids);
				affected += counts[0];
				skipped += counts[1];
			}
			at = last ? at.nextName() : at;
		}
		while (affected < MAX_AFFECTED && System.nanoTime() - start < MAX_NANOS);
		boolean remaining = at.name() < names.size();
		return new DeadStep(affected, skipped, remaining, remaining ? at.toString() : null);
	}

	/**
	 * Reads the dead tasks of a name that died last, and groups them by their errors.
	 * Reads pages until it has read enough, has enough groups, or the time is over.
	 * @param name the name
	 * @param cursor the cursor of the groups before, to go on with the tasks that died
	 * earlier; {@code null} to begin with the latest
	 * @return the groups of at most {@link DeadByError#MAX_EXAMINED} tasks
	 * @throws IllegalArgumentException if there is no such cursor
	 */
	public DeadByError byError(String name, @Nullable String cursor) {
		List<String> names = this.handlers.allNames(name);
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor)
				: new DeadCursor(0, DelayedTaskStore.MAX_TIME, null);
		long start = System.nanoTime();
		Map<String, DeadByError.Group> groups = new LinkedHashMap<>();
		int examined = 0;
		boolean full = false;
		while (!full && at.name() < names.size() && examined < DeadByError.MAX_EXAMINED
				&& (examined == 0 || System.nanoTime() - start < MAX_READ_NANOS)) {
			int limit = Math.min(DelayedTaskStore.MAX_STEP, DeadByError.MAX_EXAMINED - examined);
			DeadTasks page = this.store.dead(new DeadQuery(names.get(at.name()), true, at.after(), limit));
			for (DeadTask task : page.tasks()) {
				DeadByError.Group group = group(task);
				full = groups.size() == DeadByError.MAX_GROUPS && !groups.containsKey(group.error());
				if (full) {
					break;
				}
				add(groups, group);
				examined++;
				at = at.after(task.position());
			}
			at = (full || page.more()) ? at : at.nextName();
		}
		boolean end = at.name() >= names.size();
		List<DeadByError.Group> latest = groups.values()
			.stream()
			.sorted(Comparator.comparing(DeadByError.Group::last).reversed())
			.toList();
		return new DeadByError(latest, examined, end && cursor == null, end ? null : at.toString());
	}

	/**
	 * How many dead tasks the store has deleted through this node because it keeps only
	 * so many.
	 * @return the number since the start
	 */
	public long dropped() {
		return this.store.droppedDead();
	}

	private static DeadByError.Group group(DeadTask task) {
		String error = DeadByError.beginOf(Objects.requireNonNullElse(task.error(), ""));
		Instant diedAt = Instant.ofEpochMilli(task.diedAt());
		return new DeadByError.Group(error, 1, diedAt, diedAt, task.id());
	}

	private static void add(Map<String, DeadByError.Group> groups, DeadByError.Group one) {
		groups.merge(one.error(), one, (group, other) -> {
			DeadByError.Group latest = other.last().isAfter(group.last()) ? other : group;
			Instant first = other.first().isBefore(group.first()) ? other.first() : group.first();
			return new DeadByError.Group(group.error(), group.count() + 1, first, latest.last(), latest.id());
		});
	}

}
