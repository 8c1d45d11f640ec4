package io.timingwheel.spring.durable.jdbc;

import java.util.List;

import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The parts of a claim that depend on the database. Thread-safe.
 */
interface ClaimSteps {

	/**
	 * Claims tasks of names without limits, and looks at the first tasks of the names
	 * with limits. Takes no task if the node wants a suspect and one waits.
	 * @param limit how many tasks to claim at most
	 * @param suspect whether the node wants a suspect
	 */
	void claim(ClaimProgress progress, int limit, boolean suspect);

	/**
	 * Begins the first due tasks of a name, whose row the transaction has locked.
	 */
	List<LeasedTask> begin(Session session, ClaimProgress progress, String name, int limit);

}
