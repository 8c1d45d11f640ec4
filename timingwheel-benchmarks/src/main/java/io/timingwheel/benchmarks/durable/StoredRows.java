package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.timingwheel.spring.task.TaskId;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * Many stored tasks that no node runs. Nine of ten pending tasks have one name, the
 * others have one of {@link #NAMES} names.
 *
 * @param name the name of most tasks
 * @param first when the first pending task is due; the others are due in the week after
 * it
 */
record StoredRows(String name, Duration first) {

	static final int NAMES = 99;

	private static final String TABLE = "timingwheel_task";

	private static final String PRIMARY_KEY = TABLE + "_pkey";

	private static final long WEEK_MILLIS = Duration.ofDays(7).toMillis();

	private static final int STEP_MILLIS = 7919;

	TaskId id(int number) {
		return new TaskId((number % 10 != 0) ? this.name : "name-" + number / 10 % NAMES, "k" + number);
	}

	Duration delay(int number) {
		return this.first.plusMillis((long) number * STEP_MILLIS % WEEK_MILLIS);
	}

	/**
	 * Adds rows to PostgreSQL by SQL. The indexes are built afterwards, so that ten
	 * million rows take few minutes.
	 * @param dead how many dead tasks to add
	 * @param logged whether the table survives a crash; without it the rows take half of
	 * the time
	 */
	void insert(String url, int pending, int dead, boolean logged) {
		SingleConnectionDataSource connection = new SingleConnectionDataSource(url, true);
		try {
			insert(new JdbcTemplate(connection), pending, dead, logged);
		}
		finally {
			connection.destroy();
		}
	}

	private void insert(JdbcTemplate jdbc, int pending, int dead, boolean logged) {
		jdbc.execute("set maintenance_work_mem = '512MB'");
		if (!logged) {
			jdbc.execute("alter table " + TABLE + " set unlogged");
		}
		List<Index> indexes = jdbc.query(
				"select indexname, indexdef from pg_indexes where tablename = ? and indexname <> ?",
				(rs, rowNum) -> new Index(Objects.requireNonNull(rs.getString(1)),
						Objects.requireNonNull(rs.getString(2))),
				TABLE, PRIMARY_KEY);
		indexes.forEach((index) -> jdbc.execute("drop index " + index.name()));
		jdbc.execute("alter table " + TABLE + " drop constraint " + PRIMARY_KEY);
		insertPending(jdbc, pending);
		insertDead(jdbc, dead);
		jdbc.execute("alter table " + TABLE + " add constraint " + PRIMARY_KEY + " primary key (id)");
		indexes.forEach((index) -> jdbc.execute(index.definition()));
		jdbc.execute("vacuum analyze " + TABLE);
		jdbc.execute("checkpoint");
	}

	private void insertPending(JdbcTemplate jdbc, int count) {
		jdbc.update("""
				insert into timingwheel_task (id, name, task_key, held_key, payload, due_at, next_at, status, fence,
					attempt, deliveries, lost, created_at)
				select gen_random_uuid()::text, case when number % 10 = 0 then 'name-' || number / 10 % ? else ? end,
					'k' || number, 'ok' || number, '[' || number || ']', due, due, 0, 1, 1, 0, 0, due
				from (select number, extract(epoch from now())::bigint * 1000 + ? + number::bigint * ? % ? as due
					from generate_series(0, ? - 1) as g (number)) as numbers
				""", NAMES, this.name, this.first.toMillis(), STEP_MILLIS, WEEK_MILLIS, count);
	}

	private void insertDead(JdbcTemplate jdbc, int count) {
		jdbc.update("""
				insert into timingwheel_task (id, name, task_key, payload, due_at, status, fence, attempt, deliveries,
					lost, error, created_at, died_at)
				select gen_random_uuid()::text, ?, 'd' || number, '[' || number || ']', at, 2, 1, 16, 16, 0,
					'java.lang.IllegalStateException: The server answers ' || 500 + number % 20, at, at
				from (select number, extract(epoch from now())::bigint * 1000 - number * 10 as at
					from generate_series(0, ? - 1) as g (number)) as numbers
				""", this.name, count);
	}

	private record Index(String name, String definition) {

	}

}
