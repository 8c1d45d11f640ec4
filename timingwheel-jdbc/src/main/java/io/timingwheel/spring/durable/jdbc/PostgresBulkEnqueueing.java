package io.timingwheel.spring.durable.jdbc;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.IntFunction;

import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.NewTask;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Stores many tasks with one statement, which takes a list for each column.
 */
final class PostgresBulkEnqueueing extends BulkEnqueueing {

	private final Database database;

	private final Enqueueing single;

	private final PostgresInsert insert;

	PostgresBulkEnqueueing(Database database, Enqueueing single) {
		super(database, single);
		this.database = database;
		this.single = single;
		this.insert = new PostgresInsert(database,
				"unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::boolean[], ?::bigint[], ?::bigint[], ?::bigint[],"
						+ " ?::text[]) as many (id, name, task_key, payload, absolute, millis, look_ahead, lease, owner)");
	}

	/**
	 * One batch that replaces whatever is pending is a transaction of its own.
	 */
	@Override
	Map<String, Enqueued> aloneAll(List<List<NewTask>> batches) {
		if (batches.size() == 1 && batches.get(0).stream().allMatch(PostgresInsert::replaces)) {
			return this.database.application().single((jdbc) -> storeAll(jdbc, batches.get(0)));
		}
		return super.aloneAll(batches);
	}

	@Override
	Map<String, Enqueued> storeAll(JdbcOperations jdbc, List<NewTask> batch) {
		Map<String, Enqueued> enqueued = new HashMap<>();
		insert(jdbc, this.insert.orReplace(), batch.stream().filter(PostgresInsert::replaces).toList(), enqueued);
		insert(jdbc, this.insert.unlessPending(),
				batch.stream().filter((task) -> !PostgresInsert.replaces(task)).toList(), enqueued);
		for (NewTask task : batch) {
			enqueued.computeIfAbsent(task.id(), (id) -> this.single.join(jdbc, task));
		}
		return enqueued;
	}

	private void insert(JdbcOperations jdbc, String sql, List<NewTask> tasks, Map<String, Enqueued> enqueued) {
		if (tasks.isEmpty()) {
			return;
		}
		Dialect dialect = this.database.dialect();
		jdbc.query(sql, (rs) -> {
			Enqueued task = PostgresInsert.read(rs);
			enqueued.put(task.id(), task);
		}, this.database.offset().getAsLong(), column(tasks, String[]::new, NewTask::id),
				column(tasks, String[]::new, (task) -> dialect.text(task.name())),
				column(tasks, String[]::new, (task) -> dialect.nullableText(task.key())),
				column(tasks, String[]::new, NewTask::payload),
				column(tasks, Boolean[]::new, (task) -> task.due().absolute()),
				column(tasks, Long[]::new, PostgresInsert::millis),
				column(tasks, Long[]::new, PostgresInsert::lookAhead),
				column(tasks, Long[]::new, PostgresInsert::lease), column(tasks, String[]::new, PostgresInsert::owner));
	}

	private static <T> Object column(List<NewTask> tasks, IntFunction<T[]> array,
			Function<NewTask, @Nullable Object> value) {
		return tasks.stream().map(value).toArray(array);
	}

}
