package io.timingwheel.spring;

import java.io.IOException;
import java.net.ServerSocket;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.util.function.ThrowingFunction;

/**
 * Ports for the servers that tests start. All ports lie below the range from which the
 * operating system takes the ports of outgoing connections, and no server gets the port
 * of another one of this JVM. So a port stays free until the server has started, and
 * while a test restarts the server.
 */
public final class Ports {

	/** Linux takes ports for outgoing connections from 32768 on, others from 49152 on. */
	private static final int FIRST = 10_000;

	/** A server of a Redis Cluster has a second port, which is higher by this number. */
	private static final int TO_CLUSTER_PORT = 10_000;

	private static final int ATTEMPTS = 5;

	private static final Log logger = LogFactory.getLog(Ports.class);

	private static final Set<Integer> given = new HashSet<>();

	private Ports() {
	}

	/**
	 * Starts a server, and tries again on another port if the server does not start, for
	 * example since another JVM has taken its port.
	 * @param <T> what stands for the server
	 * @param server starts the server on the port that it is given
	 * @throws Exception of the last attempt
	 */
	public static <T> T start(ThrowingFunction<Integer, T> server) throws Exception {
		for (int attempt = 1;; attempt++) {
			int port = next();
			try {
				return server.applyWithException(port);
			}
			catch (Exception ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
				logger.warn("No server has started on port " + port + ", another port is tried", ex);
			}
		}
	}

	/**
	 * Returns a port that no server uses. The Cluster port that belongs to it is free,
	 * too.
	 */
	private static synchronized int next() {
		int port;
		do {
			port = ThreadLocalRandom.current().nextInt(FIRST, FIRST + TO_CLUSTER_PORT);
		}
		while (!isFree(port) || !isFree(port + TO_CLUSTER_PORT) || !given.add(port));
		return port;
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port)) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

}
