package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;

/** A PostgreSQL that waits for the disk at each commit, and counts the statements. */
final class PostgresServer implements Server {

	/** The longest {@code commit_delay} that PostgreSQL takes. */
	static final Duration MAX_LATENCY = Duration.ofMillis(100);

	private static final String TABLE = "timingwheel_task";

	private final EmbeddedPostgres postgres;

	private final JdbcTemplate jdbc;

	/**
	 * The other pending tasks are due after this time, in epoch milliseconds, and the
	 * tasks of the measurements before it. 0 without such tasks.
	 */
	private long pendingFrom;

	/**
	 * Starts a server.
	 * @param commitLatency how long a commit waits before it writes to the disk. Commits
	 * that come meanwhile are written together with it, as on a slow disk.
	 */
	PostgresServer(Duration commitLatency) throws IOException {
		this.postgres = Ports.start((port) -> EmbeddedPostgres.builder()
			.setPort(port)
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setServerConfig("commit_delay", String.valueOf(commitLatency.toNanos() / 1_000))
			.setServerConfig("commit_siblings", "0")
			.setServerConfig("shared_buffers", "256MB")
			.setServerConfig("max_connections", "200")
			.setServerConfig("shared_preload_libraries", "pg_stat_statements")
			.start());
		this.jdbc = new JdbcTemplate(this.postgres.getPostgresDatabase());
	}

	@Override
	public String url() {
		return this.postgres.getJdbcUrl("postgres", "postgres");
	}

	@Override
	public void clear() {
		if (this.pendingFrom != 0) {
			this.jdbc.update("delete from " + TABLE + " where due_at < ?", this.pendingFrom);
			Stream.of("_name", "_node").forEach((table) -> this.jdbc.update("delete from " + TABLE + table));
			this.jdbc.execute("vacuum (analyze, index_cleanup on) " + TABLE);
			this.jdbc.execute("checkpoint");
			return;
		}
		this.jdbc.execute("drop schema public cascade");
		this.jdbc.execute("create schema public");
		this.jdbc.execute("create extension pg_stat_statements");
	}

	@Override
	public void addPending(int count, NodeProcess node) {
		if (this.pendingFrom == 0) {
			long from = System.currentTimeMillis() + TimingWheelNode.PENDING.first().toMillis() / 2;
			TimingWheelNode.PENDING.insert(url(), count, 0, true);
			this.pendingFrom = from;
		}
	}

	@Override
	public void analyze() {
		this.jdbc.execute("analyze");
	}

	@Override
	public Map<String, Double> megabytes() {
		Map<String, Double> sizes = new LinkedHashMap<>();
		this.jdbc.query("select pg_table_size('" + TABLE + "'), pg_indexes_size('" + TABLE + "')", (rs) -> {
			sizes.put("table", rs.getLong(1) / 1e6);
			sizes.put("indexes", rs.getLong(2) / 1e6);
		});
		return sizes;
	}

	@Override
	public <T> T besideTransaction(Callable<T> work) throws Exception {
		try (Connection connection = this.postgres.getPostgresDatabase().getConnection();
				Statement statement = connection.createStatement()) {
			connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
			connection.setAutoCommit(false);
			// The first statement takes the snapshot.
			statement.execute("select 1");
			return work.call();
		}
	}

	@Override
	public long statements() {
		return Objects.requireNonNull(this.jdbc.queryForObject(
				"select coalesce(sum(calls), 0) from pg_stat_statements where query not like '%pg_stat_statements%'",
				Long.class));
	}

	@Override
	public Map<String, Double> written() {
		Map<String, Double> written = new LinkedHashMap<>();
		this.jdbc.query("""
				select pg_current_wal_lsn() - '0/0', sum(n_tup_upd + n_tup_del)
				from pg_stat_user_tables
				""", (rs) -> {
			written.put("wal", rs.getDouble(1));
			written.put("dead", rs.getDouble(2));
		});
		return written;
	}

	@Override
	public long cpuNanos() {
		String pid = this.jdbc.queryForObject("select split_part(pg_read_file('postmaster.pid'), chr(10), 1)",
				String.class);
		return ProcessHandle.of(Long.parseLong(Objects.requireNonNull(pid)))
			.stream()
			.flatMap((postmaster) -> Stream.concat(Stream.of(postmaster), postmaster.descendants()))
			.mapToLong((process) -> process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos())
			.sum();
	}

	@Override
	public void close() throws IOException {
		this.postgres.close();
	}

}
