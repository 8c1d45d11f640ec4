package io.timingwheel.spring.faults;

import java.util.List;

/**
 * The server that keeps the tasks, and the faults that a test can cause.
 */
interface FaultEnvironment extends AutoCloseable {

	/**
	 * Starts the server, for the first time or again with its data.
	 */
	void start() throws Exception;

	/**
	 * Shuts the server down.
	 */
	void stop() throws Exception;

	/**
	 * The properties by which an application finds the server.
	 */
	List<String> properties();

	/**
	 * Closes all connections except its own, while the server keeps running.
	 * @param client has one
	 */
	void dropConnections(Client client);

	@Override
	default void close() throws Exception {
		stop();
	}

}
