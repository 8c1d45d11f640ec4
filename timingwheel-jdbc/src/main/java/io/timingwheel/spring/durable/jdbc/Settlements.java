package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;

/**
 * Settle, other than acknowledge: locks the rows, decides, and writes. Usually this is
 * one transaction for all tasks. If another transaction is storing a task with one of
 * their keys, each task gets a transaction of its own.
 */
final class Settlements {

	private static final Duration MAX_WAIT = Duration.ofSeconds(1);

	private static final int MAX_ATTEMPTS = 3;

	private final Database database;

	Settlements(Database database) {
		this.database = database;
	}

	List<Reply> settle(List<Settlement> settlements) {
		List<Reply> together = takeKeys((session) -> settle(session, settlements));
		if (together != null) {
			return together;
		}
		// Each task comes first in some calls.
		int first = -ThreadLocalRandom.current().nextInt(settlements.size());
		List<Settlement> rotated = new ArrayList<>(settlements);
		Collections.rotate(rotated, first);
		List<Reply> replies = each(rotated, MAX_WAIT, Reply.BUSY,
				(session, settlement) -> settle(session, List.of(settlement)).get(0));
		Collections.rotate(replies, -first);
		return replies;
	}

	private static List<Reply> settle(Session session, List<Settlement> settlements) {
		Set<String> ids = settlements.stream().map((settlement) -> settlement.task().id()).collect(Collectors.toSet());
		Map<String, TaskRow> locked = session.lock(ids);
		ids.removeAll(locked.keySet());
		Map<String, TaskRow> others = session.read(ids);
		long now = session.now();
		List<Reply> replies = new ArrayList<>();
		List<TaskRow> writes = new ArrayList<>();
		for (Settlement settlement : settlements) {
			String id = settlement.task().id();
			TaskRow row = locked.get(id);
			if (row == null || !row.isHeldAs(settlement.task())) {
				replies.add(notHeld(settlement, (row != null) ? row : others.get(id)));
				continue;
			}
			boolean held = row.held;
			Reply reply = decide(settlement, row, now, session.dialect());
			if (row.status == TaskRow.PENDING && row.held && !held) {
				if (isTaken(session, row)) {
					row.status = TaskRow.GONE;
					reply = Reply.SUPERSEDED;
				}
				// The next task may have the same key.
				session.write(List.of(row));
			}
			else if (reply != Reply.REFUSED) {
				writes.add(row);
			}
			replies.add(reply);
		}
		session.write(writes);
		return replies;
	}

	/**
	 * Makes changes that take keys, each in a transaction of its own.
	 * @param maxWait how long the waits that were in vain may take together
	 * @param busy the result if another transaction is storing a task with the key, or if
	 * the earlier waits have taken too long
	 */
	<T, R> List<R> each(List<T> tasks, Duration maxWait, R busy, BiFunction<Session, T, R> change) {
		long waited = 0;
		List<R> results = new ArrayList<>();
		for (T task : tasks) {
			long start = System.nanoTime();
			R result = (waited < maxWait.toNanos()) ? takeKeys((session) -> change.apply(session, task)) : null;
			waited += (result == null) ? System.nanoTime() - start : 0;
			results.add((result != null) ? result : busy);
		}
		return results;
	}

	/**
	 * Changes tasks that take their keys again. If another transaction has just stored a
	 * task with such a key, the change runs again and sees that task.
	 * @return {@code null} if another transaction is storing a task with a key
	 */
	private <T> @Nullable T takeKeys(Function<Session, T> change) {
		for (int i = 0; i < MAX_ATTEMPTS; i++) {
			try {
				return this.database.node().once(false, change);
			}
			catch (DuplicateKeyException ex) {
				// The next attempt sees the other task.
			}
			catch (ConcurrencyFailureException ex) {
				return null;
			}
		}
		return null;
	}

	/**
	 * Whether another task has the key that a task takes. From now on the transaction
	 * waits only briefly for others.
	 */
	static boolean isTaken(Session session, TaskRow row) {
		Dialect dialect = session.dialect();
		if (row.key == null) {
			return false;
		}
		dialect.limitLockWait(session.jdbc());
		return session
			.strings("select id from {task} where name = ? and held_key = ?" + dialect.lockNoWait(),
					dialect.text(row.name), row.heldKey(dialect))
			.stream()
			.anyMatch((id) -> !id.equals(row.id));
	}

	/**
	 * Changes a locked row, unless the reply is {@link Reply#REFUSED}.
	 */
	static Reply decide(Settlement settlement, TaskRow row, long now, Dialect dialect) {
		if (settlement instanceof Settlement.Repeat repeat) {
			return repeat(repeat, row, now, dialect);
		}
		if (settlement instanceof Settlement.Bury bury) {
			row.status = row.isLast() ? TaskRow.GONE : TaskRow.DEAD;
			row.owner = null;
			row.held = false;
			row.nextAt = null;
			row.error = dialect.error(bury.reason());
			row.diedAt = now;
			return Reply.DONE;
		}
		boolean running = row.status == TaskRow.RUNNING;
		if (settlement instanceof Settlement.Retry && !running) {
			return Reply.REFUSED;
		}
		if (row.isLast()) {
			row.status = TaskRow.GONE;
			return Reply.SUPERSEDED;
		}
		if (settlement instanceof Settlement.Retry retry) {
			row.schedule(DueTime.after(retry.delay()).resolve(now));
			row.attempt = retry.attempt();
			row.lost = 0;
			row.error = dialect.error(retry.error());
		}
		else {
			boolean started = ((Settlement.Release) settlement).started();
			row.schedule(row.dueAt);
			row.deliveries -= (running && !started) ? 1 : 0;
		}
		return Reply.DONE;
	}

	/**
	 * Scheduled for the next run, or gone if the schedule has ended. A schedule that was
	 * changed during the run goes on with its own first time.
	 */
	private static Reply repeat(Settlement.Repeat repeat, TaskRow row, long now, Dialect dialect) {
		boolean same = repeat.schedule().equals(row.schedule);
		if (row.schedule == null || (same && repeat.next() == null)) {
			row.status = TaskRow.GONE;
			return Reply.DONE;
		}
		row.schedule(
				same ? Objects.requireNonNull(repeat.next()).resolve(now) : Objects.requireNonNull(row.scheduledAt));
		row.reset();
		row.scheduledAt = row.dueAt;
		row.firstAt = null;
		row.error = (repeat.error() != null) ? dialect.error(repeat.error()) : null;
		return Reply.DONE;
	}

	/**
	 * The reply about a task that the caller does not have, or that another transaction
	 * has locked. A repeated call is known by the fence.
	 */
	private static Reply notHeld(Settlement settlement, @Nullable TaskRow row) {
		if (row == null) {
			return (settlement instanceof Settlement.Repeat) ? Reply.DONE : Reply.REFUSED;
		}
		if (row.isHeldAs(settlement.task())) {
			return Reply.BUSY;
		}
		State settled = (settlement instanceof Settlement.Bury) ? State.DEAD : State.SCHEDULED;
		return (row.fence == settlement.task().fence() && row.state() == settled) ? Reply.DONE : Reply.REFUSED;
	}

}
