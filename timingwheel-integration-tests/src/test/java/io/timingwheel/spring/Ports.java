package io.timingwheel.spring;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

/**
 * Ports for the servers that tests start. All ports lie below the range from which the
 * operating system takes the ports of outgoing connections. This JVM also reserves its
 * ports against other JVMs that use this class. So a port stays free until the server has
 * started, and while a test restarts the server.
 */
public final class Ports {

	/** Linux takes ports for outgoing connections from 32768 on, others from 49152 on. */
	private static final int FIRST = 10_000;

	private static final int BLOCKS = 100;

	private static final int BLOCK_SIZE = 100;

	/** A server of a Redis Cluster has a second port, which is higher by this number. */
	private static final int TO_CLUSTER_PORT = 10_000;

	private static final int ATTEMPTS = 5;

	private static final Log logger = LogFactory.getLog(Ports.class);

	/** Each socket reserves a block of ports for this JVM until the JVM ends. */
	private static final List<ServerSocket> locks = new ArrayList<>();

	private static int next = FIRST;

	private Ports() {
	}

	/**
	 * Starts a server, and tries again on another port if the server does not start.
	 * @param <T> what stands for the server
	 * @param server starts the server on the port that it is given
	 * @throws Exception of the last attempt
	 */
	public static <T> T start(Start<T> server) throws Exception {
		for (int attempt = 1;; attempt++) {
			int port = next();
			try {
				return server.on(port);
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
	private static synchronized int next() throws IOException {
		while (true) {
			if (next % BLOCK_SIZE == 0) {
				next = lockBlock();
			}
			int port = next++;
			if (isFree(port) && isFree(port + TO_CLUSTER_PORT)) {
				return port;
			}
		}
	}

	/**
	 * Reserves a block of ports for this JVM by listening on the first one.
	 * @return the second port of the block
	 */
	private static int lockBlock() throws IOException {
		int first = ThreadLocalRandom.current().nextInt(BLOCKS);
		for (int i = 0; i < BLOCKS; i++) {
			int port = FIRST + (first + i) % BLOCKS * BLOCK_SIZE;
			ServerSocket lock = new ServerSocket();
			try {
				lock.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
				locks.add(lock);
				return port + 1;
			}
			catch (IOException ex) {
				lock.close();
			}
		}
		throw new IOException("All blocks of ports are in use");
	}

	private static boolean isFree(int port) {
		try (ServerSocket socket = new ServerSocket(port)) {
			return socket.isBound();
		}
		catch (IOException ex) {
			return false;
		}
	}

	/**
	 * Starts a server.
	 *
	 * @param <T> what stands for the server
	 */
	@FunctionalInterface
	public interface Start<T> {

		T on(int port) throws Exception;

	}

}
