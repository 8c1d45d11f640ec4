package io.timingwheel.spring.faults;

import java.util.List;

import ch.vorburger.exec.ManagedProcessException;
import io.timingwheel.spring.MariaDb;

import org.springframework.dao.DataAccessException;

/**
 * MariaDB.
 */
final class MariaDbEnvironment implements FaultEnvironment {

	private MariaDb server;

	private String url;

	@Override
	public void start() throws Exception {
		if (this.server == null) {
			this.server = MariaDb.create();
			this.url = this.server.createDatabase("timingwheel");
		}
		else {
			this.server.start();
		}
	}

	@Override
	public void stop() throws ManagedProcessException {
		this.server.stop();
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=jdbc", "spring.datasource.url=" + this.url);
	}

	@Override
	public void dropConnections(Client client) {
		client.jdbc()
			.queryForList("select id from information_schema.processlist"
					+ " where id <> connection_id() and db = 'timingwheel'", Long.class)
			.forEach((id) -> {
				try {
					client.jdbc().execute("kill " + id);
				}
				catch (DataAccessException ex) {
					// The connection has ended by itself.
				}
			});
	}

}
