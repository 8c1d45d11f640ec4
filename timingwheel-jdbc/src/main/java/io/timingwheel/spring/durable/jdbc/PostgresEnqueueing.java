package io.timingwheel.spring.durable.jdbc;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores a task with one statement.
 */
final class PostgresEnqueueing extends Enqueueing {

	private final Database database;

	private final PostgresInsert insert;

	PostgresEnqueueing(Database database) {
		super(database);
		this.database = database;
		this.insert = new PostgresInsert(database,
				"(select ?::text as id, ?::text as name, ?::text as task_key, ?::text as payload, ?::boolean as absolute,"
						+ " ?::bigint as millis, ?::bigint as look_ahead, ?::bigint as lease, ?::text as owner) as one");
	}

	@Override
	Enqueued alone(NewTask task) {
		Enqueued enqueued = this.database.application().single((jdbc) -> insert(jdbc, task));
		return (enqueued != null) ? enqueued : super.alone(task);
	}

	@Override
	Enqueued join(JdbcOperations jdbc, NewTask task) {
		Enqueued enqueued = insert(jdbc, task);
		return (enqueued != null) ? enqueued : super.join(jdbc, task);
	}

	/**
	 * Stores a task.
	 * @return {@code null} if another is pending
	 */
	private @Nullable Enqueued insert(JdbcOperations jdbc, NewTask task) {
		String sql = PostgresInsert.replaces(task) ? this.insert.orReplace() : this.insert.unlessPending();
		return Rows.first(jdbc, sql, (rs, rowNum) -> PostgresInsert.read(rs), this.database.offset().getAsLong(),
				task.id(), this.database.dialect().text(task.name()), this.database.dialect().nullableText(task.key()),
				task.payload(), task.due().absolute(), PostgresInsert.millis(task), PostgresInsert.lookAhead(task),
				PostgresInsert.lease(task), PostgresInsert.owner(task));
	}

}
