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

	private final DeadReader deaths;

	private final Runnable changed;

	/**
	 * Creates an editor.
	 * @param store the store
	 * @param handlers the handlers of this node
	 * @param changed runs when a task is pending again
	 */
	DeadTaskEditor(DelayedTaskStore store, DurableHandlerRegistry handlers, Runnable changed) {
		this.store = store;
		this.deaths = new DeadReader(store, handlers);
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
	 * @param which which dead tasks
	 * @param cursor the cursor of the reply before, {@code null} for the first call
	 * @return the result
	 * @throws IllegalArgumentException if there is no such cursor
	 */
	public DeadStep requeueAll(String name, DeadFilter which, @Nullable String cursor) {
		return step(name, which, cursor, (ids) -> {
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
	 * @param which which dead tasks
	 * @param cursor the cursor of the reply before, {@code null} for the first call
	 * @return the result
	 * @throws IllegalArgumentException if there is no such cursor
	 */
	public DeadStep deleteAll(String name, DeadFilter which, @Nullable String cursor) {
		return step(name, which, cursor, (ids) -> new int[] { this.store.discardAll(ids), 0 });
	}

	/**
	 * Changes dead tasks until enough are affected, the time is over, or none is left.
	 * Tasks that die during this call and those that follow it are not affected.
	 * Otherwise tasks that fail at once would be requeued without an end.
	 * @param change changes tasks, and gives how many it has affected and skipped
	 */
	private DeadStep step(String name, DeadFilter which, @Nullable String cursor,
			Function<List<String>, int[]> change) {
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor) : new DeadCursor(this.store.now(), null);
		long start = System.nanoTime();
		int affected = 0;
		int skipped = 0;
		boolean remaining = true;
		do {
			DeadTasks page = this.deaths.read(name, false, at.after(), DelayedTaskStore.MAX_STEP);
			remaining = page.more();
			List<String> ids = new ArrayList<>();
			for (DeadTask task : page.tasks()) {
				if (task.diedAt() > at.until()) {
					remaining = false;
					break;
				}
				if (ids.size() == MAX_AFFECTED - affected) {
					remaining = true;
					break;
				}
				if (which.matches(task.error())) {
					ids.add(task.id());
				}
				at = at.after(task.position());
			}
			if (!ids.isEmpty()) {
				int[] counts = change.apply(ids);
				affected += counts[0];
				skipped += counts[1];
			}
		}
		while (remaining && affected < MAX_AFFECTED && System.nanoTime() - start < MAX_NANOS);
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
		DeadCursor at = (cursor != null) ? DeadCursor.parse(cursor) : new DeadCursor(DelayedTaskStore.MAX_TIME, null);
		long start = System.nanoTime();
		Map<String, DeadByError.Group> groups = new LinkedHashMap<>();
		int examined = 0;
		boolean full = false;
		boolean more = true;
		while (!full && more && examined < DeadByError.MAX_EXAMINED
				&& (examined == 0 || System.nanoTime() - start < MAX_READ_NANOS)) {
			int limit = Math.min(DelayedTaskStore.MAX_STEP, DeadByError.MAX_EXAMINED - examined);
			DeadTasks page = this.deaths.read(name, true, at.after(), limit);
			more = page.more();
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
		}
		boolean end = !full && !more;
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
