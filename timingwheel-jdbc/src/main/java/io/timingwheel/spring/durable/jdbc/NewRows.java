package io.timingwheel.spring.durable.jdbc;

import java.util.Arrays;

import io.timingwheel.spring.durable.Enqueued.Outcome;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import org.jspecify.annotations.Nullable;

/**
 * What is written of a task that is new, or takes the place of another.
 */
final class NewRows {

	static final long FIRST_FENCE = 1;

	private final Dialect dialect;

	private final String insert;

	private final String replace;

	NewRows(Database database) {
		this.dialect = database.dialect();
		TableName table = database.table();
		this.insert = ("insert into %s (id, name, task_key, pending_key, payload, due_at, next_at, status, owner, fence,"
				+ " attempt, deliveries, lost_deliveries, created_at) values (?, ?, ?, ?, ?, ?, ?, %d, ?, %d, 1, 0, 0, ?)")
			.formatted(table, Status.PENDING, FIRST_FENCE);
		this.replace = ("update %s set id = ?, payload = ?, due_at = ?, next_at = ?, owner = ?, fence = fence + 1,"
				+ " attempt = 1, deliveries = 0, lost_deliveries = 0, error = null, created_at = ? where id = ?")
			.formatted(table);
	}

	/**
	 * Takes an {@link #insertion}.
	 */
	String insert() {
		return this.insert;
	}

	/**
	 * Takes a {@link #replacement}.
	 */
	String replace() {
		return this.replace;
	}

	Object[] insertion(NewTask task, Enqueued inserted) {
		Object key = this.dialect.nullableText(task.key());
		LeaseOffer lease = inserted.leased() ? task.lease() : null;
		return values(task.id(), this.dialect.text(task.name()), key, key, task.payload(), inserted.dueAt(),
				nextAt(inserted, lease), owner(lease), inserted.now());
	}

	static Object[] replacement(NewTask task, Enqueued inserted, TaskRow pending) {
		LeaseOffer lease = inserted.leased() ? task.lease() : null;
		return values(task.id(), task.payload(), inserted.dueAt(), nextAt(inserted, lease), owner(lease),
				inserted.now(), pending.id());
	}

	private static Object[] values(@Nullable Object... values) {
		return Arrays.asList(values).toArray();
	}

	private static long nextAt(Enqueued task, @Nullable LeaseOffer lease) {
		return (lease != null) ? Times.leaseEnd(task.dueAt(), task.now(), lease.lease()) : task.dueAt();
	}

	static @Nullable String owner(@Nullable LeaseOffer lease) {
		return (lease != null) ? lease.owner() : null;
	}

	static Enqueued inserted(NewTask task, long now) {
		long dueAt = task.due().resolve(now);
		return new Enqueued(Outcome.INSERTED, task.id(), FIRST_FENCE, dueAt, now,
				Times.accepted(task.lease(), dueAt, now));
	}

	static Enqueued kept(TaskRow pending, long now) {
		return new Enqueued(Outcome.PENDING, pending.id(), pending.fence(), pending.dueAt(), now, false);
	}

	static Enqueued replaced(Enqueued inserted, TaskRow pending) {
		return new Enqueued(Outcome.REPLACED, inserted.id(), pending.fence() + 1, inserted.dueAt(), inserted.now(),
				inserted.leased());
	}

}
