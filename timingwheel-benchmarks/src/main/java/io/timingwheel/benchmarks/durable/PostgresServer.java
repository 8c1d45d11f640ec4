package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * PostgreSQL that waits for the disk at each commit, and counts the statements.
 */
final class PostgresServer implements Server {

	private final EmbeddedPostgres postgres;

	private final JdbcTemplate jdbc;

	PostgresServer() throws IOException {
		this.postgres = Ports.start((port) -> EmbeddedPostgres.builder()
			.setPort(port)
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
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
		this.jdbc.execute("drop schema public cascade");
		this.jdbc.execute("create schema public");
		this.jdbc.execute("create extension pg_stat_statements");
	}

	@Override
	public long statements() {
		return Objects.requireNonNull(this.jdbc.queryForObject(
				"select coalesce(sum(calls), 0) from pg_stat_statements where query not like '%pg_stat_statements%'",
				Long.class));
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
