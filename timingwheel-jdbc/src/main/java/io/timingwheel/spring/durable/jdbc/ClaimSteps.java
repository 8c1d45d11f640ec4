package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * The parts of a claim that depend on the database.
 */
interface ClaimSteps {

	/**
	 * Claims tasks of names without limits, and looks at the first tasks of the names
	 * with limits. Takes no task if the node wants a suspect and one waits.
	 * @param request the request, with the limit for the names without limits
	 * @param since where to begin to search each name
	 */
	Round claim(ClaimRequest request, Map<String, Long> since);

	/**
	 * Begins the first due tasks of a name, whose row the transaction has locked.
	 * @param limit how many tasks to begin at most
	 * @param since where to begin to search
	 */
	List<LeasedTask> begin(Session session, ClaimRequest request, String name, int limit, long since);

	/**
	 * What the first request of a claim has taken and seen.
	 *
	 * @param tasks the tasks of names without limits
	 * @param now the time by the database's clock
	 * @param nextAt when the next task of these names is due or its lease ends,
	 * {@link Long#MAX_VALUE} for none
	 * @param newSuspects whether leases of runs had ended
	 * @param left whether tasks were found and not taken, since they have just changed
	 * @param suspects the names in which suspects wait, the earliest first, if the node
	 * wants one
	 * @param pausedNames the paused names
	 * @param looks the first tasks of the names with limits that are not paused
	 */
	record Round(List<LeasedTask> tasks, long now, long nextAt, boolean newSuspects, boolean left,
			List<String> suspects, Set<String> pausedNames, Map<String, Look> looks) {

	}

	/**
	 * The times of the first tasks of a name, {@link Long#MAX_VALUE} for none.
	 *
	 * @param dueAt of those that are due
	 * @param endedAt of the runs whose leases have ended
	 * @param laterAt of those that are due later
	 */
	record Look(long dueAt, long endedAt, long laterAt) {

		boolean hasDue() {
			return this.dueAt != Long.MAX_VALUE;
		}

		boolean hasEnded() {
			return this.endedAt != Long.MAX_VALUE;
		}

	}

}
