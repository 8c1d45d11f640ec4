package io.timingwheel.spring.faults;

import java.util.List;

/**
 * The server that keeps the tasks, and what may befall it.
 */
interface FaultEnvironment extends AutoCloseable {

	/**
	 * Starts the server, for the first time or again with what it had.
	 */
	void start() throws Exception;

	/**
	 * Shuts the server down.
	 */
	void stop() throws Exception;

	/**
	 * By which an application finds it.
	 */
	List<String> properties();

	/**
	 * Ends all connections but its own, while the server goes on.
	 * @param client has one
	 */
	void dropConnections(Client client);

	@Override
	default void close() throws Exception {
		stop();
	}

}
