package io.timingwheel.benchmarks.durable;

import java.util.List;
import java.util.Objects;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/**
 * Rows of pending and dead tasks in PostgreSQL, made by SQL. The indexes are built
 * afterwards, and nothing is written to the log, so that ten million rows take few
 * minutes.
 */
final class ReadRows {

	private static final String TABLE = "timingwheel_task";

	private static final String PRIMARY_KEY = TABLE + "_pkey";

	private static final int DEAD = 100_000;

	private ReadRows() {
	}

	static void insert(String url, int pending) {
		JdbcTemplate jdbc = new JdbcTemplate(new DriverManagerDataSource(url));
		// Each statement has a connection of its own.
		jdbc.execute("alter database postgres set maintenance_work_mem = '512MB'");
		jdbc.execute("alter table " + TABLE + " set unlogged");
		List<Index> indexes = jdbc.query(
				"select indexname, indexdef from pg_indexes where tablename = ? and indexname <> ?",
				(rs, rowNum) -> new Index(Objects.requireNonNull(rs.getString(1)),
						Objects.requireNonNull(rs.getString(2))),
				TABLE, PRIMARY_KEY);
		indexes.forEach((index) -> jdbc.execute("drop index " + index.name()));
		jdbc.execute("alter table " + TABLE + " drop constraint " + PRIMARY_KEY);
		jdbc.update(
				"""
						insert into timingwheel_task (id, name, task_key, pending_key, payload, due_at, next_at, status, fence,
							attempt, deliveries, lost_deliveries, created_at)
						select gen_random_uuid()::text, case when number % 10 = 0 then 'name-' || number / 10 % ? else ? end,
							'k' || number, 'k' || number, '{"v":1,"args":[' || number || ']}', due, due, 0, 1, 1, 0, 0, due
						from (select number, extract(epoch from now())::bigint * 1000 + 600000 + number::bigint * 7919 % 604800000 as due
							from generate_series(0, ? - 1) as g (number)) as numbers
						""",
				ReadNode.NAMES, ReadNode.NAME, pending);
		jdbc.update(
				"""
						insert into timingwheel_task (id, name, task_key, payload, due_at, status, fence, attempt, deliveries,
							lost_deliveries, error, created_at, died_at)
						select gen_random_uuid()::text, ?, 'd' || number, '{"v":1,"args":[' || number || ']}', at, 2, 1, 16, 16, 0,
							'java.lang.IllegalStateException: The server answers ' || 500 + number % 20, at, at
						from (select number, extract(epoch from now())::bigint * 1000 - number * 10 as at
							from generate_series(0, ? - 1) as g (number)) as numbers
						""",
				ReadNode.NAME, DEAD);
		jdbc.execute("alter table " + TABLE + " add constraint " + PRIMARY_KEY + " primary key (id)");
		indexes.forEach((index) -> jdbc.execute(index.definition()));
		jdbc.execute("vacuum analyze " + TABLE);
	}

	private record Index(String name, String definition) {

	}

}
