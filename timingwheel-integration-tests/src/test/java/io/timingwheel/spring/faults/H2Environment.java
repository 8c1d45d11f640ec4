package io.timingwheel.spring.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.util.List;

import org.h2.tools.Server;

/**
 * H2 as a server of its own, with a file.
 */
final class H2Environment implements FaultEnvironment {

	private final Path folder;

	private int port;

	private Server server;

	H2Environment() throws IOException {
		this.folder = Files.createTempDirectory("timingwheel-h2");
	}

	@Override
	public void start() throws SQLException {
		this.server = Server.createTcpServer("-tcpPort", String.valueOf(this.port), "-tcpDaemon", "-ifNotExists");
		this.server.start();
		this.port = this.server.getPort();
	}

	@Override
	public void stop() {
		this.server.stop();
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=jdbc",
				"spring.datasource.url=jdbc:h2:tcp://localhost:%d/%s;WRITE_DELAY=0".formatted(this.port,
						this.folder.resolve("tasks")));
	}

	/**
	 * It has no command for that, other than to end.
	 */
	@Override
	public void dropConnections(Client client) {
		stop();
		try {
			start();
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
