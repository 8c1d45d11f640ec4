package io.timingwheel.spring.durable.jdbc;

import java.util.List;

/**
 * What a statement claimed of a limited name that had no lost runs.
 *
 * @param now the time by the database's clock
 * @param nextAt when the next task is due; the present time if there may be more tasks
 * now
 * @param places the places of the name before the claim
 */
record CountedClaim(List<ClaimedRow> tasks, long now, long nextAt, Places places) {

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
