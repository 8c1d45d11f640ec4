package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;

/**
 * Settle, other than acknowledge: locks the rows, decides, and writes. A task that takes
 * its key again does so in a transaction of its own: another transaction may have stored
 * a task with the key, or may be storing one, and the database then undoes the whole
 * transaction.
 */
final class Settlements {

	/** How long all waits of one call for other transactions may take together. */
	private static final long MAX_WAIT = Duration.ofSeconds(1).toNanos();

	private static final int MAX_ATTEMPTS = 3;

	private final Database database;

	Settlements(Database database) {
		this.database = database;
	}

	Map<Settlement, Reply> settle(List<Settlement> settlements) {
		List<Settlement> needKeys = new ArrayList<>();
		Map<Settlement, Reply> replies = this.database.node().transaction((session) -> {
			needKeys.clear();
			return settle(session, settlements, needKeys);
		});
		settleKeyed(needKeys, replies);
		return replies;
	}

	/**
	 * Settles tasks in one transaction.
	 * @param needKeys takes the settlements that are left, since they need keys
	 */
	private static Map<Settlement, Reply> settle(Session session, List<Settlement> settlements,
			List<Settlement> needKeys) {
		List<String> ids = settlements.stream().map((settlement) -> settlement.task().id()).toList();
		Map<String, TaskRow> locked = session.lock(ids);
		Map<String, TaskRow> others = session.read(ids.stream().filter((id) -> !locked.containsKey(id)).toList());
		long now = session.now();
		Map<Settlement, Reply> replies = new IdentityHashMap<>();
		List<TaskRow> writes = new ArrayList<>();
		for (Settlement settlement : settlements) {
			String id = settlement.task().id();
			TaskRow row = locked.get(id);
			if (row == null || !row.isHeldAs(settlement.task())) {
				replies.put(settlement, notHeld(settlement, (row != null) ? row : others.get(id)));
				continue;
			}
			boolean held = row.held;
			Reply reply = decide(settlement, row, now, session.dialect());
			if (row.status == TaskRow.PENDING && row.held && !held) {
				needKeys.add(settlement);
				continue;
			}
			replies.put(settlement, reply);
			if (reply != Reply.REFUSED) {
				writes.add(row);
			}
		}
		session.write(writes);
		return replies;
	}

	/**
	 * Settles tasks that take their keys. If the call has waited too long for other
	 * transactions, the reply for the remaining tasks is {@link Reply#BUSY}. The call
	 * begins with a random task, so that each task comes first in some calls.
	 */
	private void settleKeyed(List<Settlement> settlements, Map<Settlement, Reply> replies) {
		long waited = 0;
		int first = settlements.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(settlements.size());
		for (int i = 0; i < settlements.size(); i++) {
			Settlement settlement = settlements.get((first + i) % settlements.size());
			long start = System.nanoTime();
			Reply reply = (waited < MAX_WAIT) ? takeKey((session) -> settleKeyed(session, settlement)) : null;
			waited += (reply == null) ? System.nanoTime() - start : 0;
			replies.put(settlement, (reply != null) ? reply : Reply.BUSY);
		}
	}

	private Reply settleKeyed(Session session, Settlement settlement) {
		List<String> id = List.of(settlement.task().id());
		TaskRow row = session.lock(id).get(id.get(0));
		if (row == null || !row.isHeldAs(settlement.task())) {
			return notHeld(settlement, (row != null) ? row : session.read(id).get(id.get(0)));
		}
		Reply reply = decide(settlement, row, session.now(), session.dialect());
		if (row.status == TaskRow.PENDING && isTaken(session, row)) {
			row.status = TaskRow.GONE;
			reply = Reply.SUPERSEDED;
		}
		if (reply != Reply.REFUSED) {
			session.write(List.of(row));
		}
		return reply;
	}

	/**
	 * Changes a task that takes its key again. If another transaction has just stored a
	 * task with the key, the change runs again and sees that task.
	 * @return {@code null} if another transaction is storing a task with the key
	 */
	<T> @Nullable T takeKey(Function<Session, T> change) {
		for (int i = 0; i < MAX_ATTEMPTS; i++) {
			try {
				return this.database.node().once(change);
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
	 * waits only briefly for other transactions.
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
	 * Changes a row that the transaction has locked, and that the caller has.
	 * @return the reply; {@link Reply#REFUSED} if the row stays as it is
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
	 * Repeat: scheduled for the next run, or gone if the schedule has ended. A schedule
	 * that was changed during the run goes on with its own first time.
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
	 * has locked. The fence stays when a node gives a task back, so that a repeated call
	 * is known by it.
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
