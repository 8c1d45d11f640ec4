package io.timingwheel.spring.durable.jdbc;

import java.util.List;
import java.util.Map;
import java.util.Set;

import io.timingwheel.spring.durable.store.LeasedTask;

/**
 * What the first request of a claim has taken and seen.
 *
 * @param tasks the tasks of names without limits
 * @param now the time by the database's clock
 * @param nextAt when the next task of these names is due or its lease ends,
 * {@link Long#MAX_VALUE} for none
 * @param newSuspects whether leases of runs had ended
 * @param left whether tasks were found and not taken, since they have just changed
 * @param pausedNames the paused names
 * @param looks the first tasks of the names with limits that are not paused
 */
record ClaimRound(List<LeasedTask> tasks, long now, long nextAt, boolean newSuspects, boolean left,
		Set<String> pausedNames, Map<String, Look> looks) {

	/**
	 * The times of the first tasks of a name, {@link Long#MAX_VALUE} for none.
	 *
	 * @param dueAt of those that are due
	 * @param suspectAt of the suspects that wait
	 * @param endedAt of the runs whose leases have ended
	 * @param laterAt of those that are due later
	 */
	record Look(long dueAt, long suspectAt, long endedAt, long laterAt) {

	}

}
