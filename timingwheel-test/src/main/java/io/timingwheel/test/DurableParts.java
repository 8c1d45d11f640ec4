package io.timingwheel.test;

import java.time.Duration;
import java.util.List;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * What virtual time does with the durable tasks of an application. The types of durable
 * tasks do not appear here, since their module is optional.
 */
interface DurableParts {

	/**
	 * Lets each part of the node have a turn when the time is moved next. The store may
	 * have changed, or may answer again.
	 */
	void rouse();

	/**
	 * The time to the next turn of a part of the node.
	 */
	@Nullable Duration nextTurn();

	/**
	 * Whether a task that runs once is pending or running.
	 */
	boolean hasUnfinishedOnce();

	/**
	 * Why the store does not answer.
	 */
	@Nullable Throwable storeError();

	/**
	 * Whether the node is not paused.
	 */
	boolean isClaiming();

	/**
	 * Deletes all that is stored, and forgets the faults.
	 */
	void deleteAll();

	/**
	 * Begins anew with an empty store: stores the schedules of the application.
	 */
	void beginAnew(boolean claiming);

	/**
	 * The names that have stored tasks.
	 */
	Set<String> storedNames();

	/**
	 * The pending tasks of a name.
	 */
	List<PendingTask> pending(String name);

	/**
	 * The durable methods of the application.
	 */
	Set<String> methodNames();

	/**
	 * Finds a durable method.
	 */
	@Nullable String methodName(String nameOrAlias);

}
