package io.timingwheel.spring.durable.jdbc;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.LeasedTask;

/**
 * A row that was claimed.
 *
 * @param task the task as the node sees it
 * @param foundAt the {@code next_at} of the row before the claim
 * @param leaseEnd the {@code next_at} of the row now
 */
record ClaimedRow(LeasedTask task, long foundAt, long leaseEnd) {

	/**
	 * The result of a claim.
	 * @param nextAt the earliest {@code next_at} of the rows that were not claimed
	 */
	static Claimed claim(List<ClaimedRow> claimed, long now, long nextAt) {
		List<ClaimedRow> rows = new ArrayList<>(claimed);
		rows.sort(Comparator.comparingLong(ClaimedRow::foundAt));
		List<LeasedTask> tasks = new ArrayList<>(rows.size());
		long next = nextAt;
		for (ClaimedRow row : rows) {
			tasks.add(row.task());
			next = Math.min(next, row.leaseEnd());
		}
		return new Claimed(tasks, now, next);
	}

}
