package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;

import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Settlement;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.DuplicateKeyException;

/**
 * Changes of tasks that take their keys again. Each is a transaction of its own, since
 * another transaction may have stored a task with the key, or may be storing one. The
 * database then undoes the whole transaction.
 */
final class TakenKeys {

	/** How long all waits of one call for other transactions may take together. */
	private static final long MAX_WAIT = Duration.ofSeconds(1).toNanos();

	private static final int MAX_ATTEMPTS = 3;

	private final Database database;

	TakenKeys(Database database) {
		this.database = database;
	}

	/**
	 * Settles tasks that take their keys. If the call has waited too long for other
	 * transactions, the reply for the remaining tasks is {@link Reply#BUSY}. The call
	 * begins with a random task, so that each task comes first in some calls.
	 */
	Map<Settlement, Reply> settle(List<Settlement> settlements) {
		Map<Settlement, Reply> replies = new IdentityHashMap<>();
		long waited = 0;
		int first = settlements.isEmpty() ? 0 : ThreadLocalRandom.current().nextInt(settlements.size());
		for (int i = 0; i < settlements.size(); i++) {
			Settlement settlement = settlements.get((first + i) % settlements.size());
			long start = System.nanoTime();
			Reply reply = (waited < MAX_WAIT) ? settle(settlement) : Reply.BUSY;
			waited += (reply == Reply.BUSY) ? System.nanoTime() - start : 0;
			replies.put(settlement, reply);
		}
		return replies;
	}

	private Reply settle(Settlement settlement) {
		Reply reply = take((session) -> settle(session, settlement));
		return (reply != null) ? reply : Reply.BUSY;
	}

	private Reply settle(Session session, Settlement settlement) {
		String id = settlement.task().id();
		TaskRow row = session.lock(List.of(id)).get(id);
		if (row == null || !row.isHeldAs(settlement.task())) {
			return Settling.notHeld(settlement, (row != null) ? row : session.read(List.of(id)).get(id));
		}
		Reply reply = Settling.settle(settlement, row, session.now(), session.dialect());
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
	 * Runs the statements of a change in a transaction of its own. If another transaction
	 * has just stored a task with the key, the statements run again and see that task.
	 * @return {@code null} if another transaction is storing a task with the key
	 */
	<T> @Nullable T take(Function<Session, T> change) {
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
	boolean isTaken(Session session, TaskRow row) {
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

}
