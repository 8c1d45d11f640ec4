package io.timingwheel.spring.faults;

import java.io.IOException;
import java.util.List;

import io.timingwheel.spring.Postgres;

/**
 * PostgreSQL with the durability settings of production.
 */
final class PostgresEnvironment implements FaultEnvironment {

	private Postgres server;

	@Override
	public void start() throws Exception {
		if (this.server == null) {
			this.server = new Postgres();
		}
		else {
			this.server.restart();
		}
	}

	@Override
	public void stop() throws IOException {
		this.server.close();
	}

	/**
	 * Kills all processes of the server.
	 */
	void kill() throws IOException {
		this.server.kill();
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=jdbc", "spring.datasource.url=" + this.server.url());
	}

	@Override
	public void dropConnections(Client client) {
		client.jdbc()
			.queryForList("select pg_terminate_backend(pid) from pg_stat_activity"
					+ " where backend_type = 'client backend' and pid <> pg_backend_pid()");
	}

}
