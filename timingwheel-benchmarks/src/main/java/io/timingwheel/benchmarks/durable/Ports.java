package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers, below the range from which the operating system takes the ports of
 * outgoing connections.
 */
final class Ports {

	private static final int FIRST = 10_000;

	private static final int END = 30_000;

	private static final int ATTEMPTS = 5;

	private Ports() {
	}

	/**
	 * Starts a server, and tries again on another port if the server does not start.
	 * @param <T> what stands for the server
	 * @param server starts the server on the port that it is given
	 * @throws IOException of the last attempt
	 */
	static <T> T start(Start<T> server) throws IOException {
		for (int attempt = 1;; attempt++) {
			try {
				return server.on(free());
			}
			catch (IOException ex) {
				if (attempt == ATTEMPTS) {
					throw new IOException("The server did not start on any of %d ports: %s".formatted(ATTEMPTS, ex),
							ex);
				}
			}
		}
	}

	private static int free() {
		while (true) {
			int port = ThreadLocalRandom.current().nextInt(FIRST, END);
			try (ServerSocket socket = new ServerSocket(port)) {
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				// It is in use: try another one.
			}
		}
	}

	/**
	 * Starts a server.
	 *
	 * @param <T> what stands for the server
	 */
	@FunctionalInterface
	interface Start<T> {

		T on(int port) throws IOException;

	}

}
