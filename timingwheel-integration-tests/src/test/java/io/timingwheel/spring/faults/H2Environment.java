package io.timingwheel.spring.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.Ports;
import org.h2.tools.Server;

/**
 * H2 as a server in a process of its own, with a database file.
 */
final class H2Environment implements FaultEnvironment {

	private static final long GRACE_SECONDS = 30;

	private final Path folder;

	private int port;

	private Process server;

	H2Environment() throws IOException {
		this.folder = Files.createTempDirectory("timingwheel-h2");
	}

	@Override
	public void start() throws Exception {
		if (this.port == 0) {
			this.port = Ports.start((port) -> {
				start(port);
				return port;
			});
		}
		else {
			start(this.port);
		}
	}

	private void start(int port) throws IOException {
		this.server = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx256m",
				"-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"), Server.class.getName(), "-tcp",
				"-tcpPort", String.valueOf(port), "-ifNotExists")
			.redirectErrorStream(true)
			.start();
		Runtime.getRuntime().addShutdownHook(new Thread(this.server::destroyForcibly));
		BufferedReader output = this.server.inputReader();
		String line = output.readLine();
		if (line == null || !line.startsWith("TCP server running")) {
			throw new IllegalStateException("H2 does not start: " + line);
		}
	}

	@Override
	public void stop() throws InterruptedException {
		this.server.destroy();
		if (!this.server.waitFor(GRACE_SECONDS, TimeUnit.SECONDS)) {
			this.server.destroyForcibly().waitFor();
		}
	}

	@Override
	public List<String> properties() {
		return List.of("timingwheel.store.type=jdbc",
				"spring.datasource.url=jdbc:h2:tcp://localhost:%d/%s;WRITE_DELAY=0".formatted(this.port,
						this.folder.resolve("tasks")));
	}

	/**
	 * H2 has no command to close connections, so the server ends.
	 */
	@Override
	public void dropConnections(Client client) {
		try {
			stop();
			start();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
