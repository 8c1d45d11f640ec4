package io.timingwheel.spring.durable.jdbc;

import java.util.List;

/**
 * What a statement claimed of a limited name that had no lost runs.
 *
 * @param time the time when the claim had changed the tasks
 * @param nextAt when the next task is due, {@link Long#MAX_VALUE} if the claim has seen
 * none
 * @param more whether there may be more tasks now
 * @param places the places of the name before the claim
 */
record CountedClaim(List<ClaimedRow> tasks, TimeReading time, long nextAt, boolean more, Places places) {

	/**
	 * The places of a limited name.
	 *
	 * @param locked whether the transaction had locked the row of the name
	 * @param missing whether the name has no row
	 * @param hasLost whether runs of the name were lost. If so, the statement took
	 * nothing
	 * @param free how many places were free
	 */
	record Places(boolean locked, boolean missing, boolean hasLost, int free) {

		boolean usable() {
			return this.locked && !this.hasLost;
		}

	}

}
