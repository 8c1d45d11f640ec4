package io.timingwheel.spring.durable.store.test;

import io.timingwheel.spring.durable.store.DelayedTaskStore;

/**
 * Gives the classes of the contract the store that they test. Who writes a store
 * implements this interface once, and has a subclass of each class of the contract that
 * implements it too.
 *
 * @since 0.1
 */
public interface StoreFixture {

	/**
	 * Opens a store object as a node does at its start. All objects of a test class share
	 * their tasks. The tests delete all tasks, and after each test they close the objects
	 * that are {@link AutoCloseable}.
	 * @return another store object
	 * @throws Exception if the store cannot be opened
	 */
	DelayedTaskStore openStore() throws Exception;

}
