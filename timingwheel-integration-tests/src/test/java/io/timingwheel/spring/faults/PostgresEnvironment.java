package io.timingwheel.spring.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

/**
 * PostgreSQL as safe as in production.
 */
final class PostgresEnvironment implements FaultEnvironment {

	private final Path folder;

	private int port;

	private EmbeddedPostgres server;

	PostgresEnvironment() throws IOException {
		this.folder = Files.createTempDirectory("timingwheel-postgres").resolve("data");
	}

	@Override
	public void start() throws IOException {
		this.server = EmbeddedPostgres.builder()
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setDataDirectory(this.folder)
			.setCleanDataDirectory(false)
			.setPort(this.port)
			.start();
		this.port = this.server.getPort();
	}

	@Override
	public void stop() throws IOException {
		this.server.close();
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=jdbc",
				"spring.datasource.url=" + this.server.getJdbcUrl("postgres", "postgres"));
	}

	@Override
	public void dropConnections(Client client) {
		client.jdbc()
			.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
					+ " where backend_type = 'client backend' and pid <> pg_backend_pid()");
	}

}
