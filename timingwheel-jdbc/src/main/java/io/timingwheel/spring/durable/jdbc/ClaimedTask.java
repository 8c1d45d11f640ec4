package io.timingwheel.spring.durable.jdbc;

import java.util.Comparator;
import java.util.List;

import io.timingwheel.spring.durable.Claim;
import io.timingwheel.spring.durable.LeasedTask;

/**
 * A task that was claimed.
 *
 * @param task the task
 * @param foundAt its {@code next_at} before the claim
 * @param leaseEnd its {@code next_at} now
 */
record ClaimedTask(LeasedTask task, long foundAt, long leaseEnd) {

	/**
	 * The result of a claim.
	 * @param nextAt the earliest {@code next_at} of the tasks that were not claimed
	 */
	static Claim claim(List<ClaimedTask> claimed, long now, long nextAt) {
		List<LeasedTask> tasks = claimed.stream()
			.sorted(Comparator.comparingLong(ClaimedTask::foundAt))
			.map(ClaimedTask::task)
			.toList();
		return new Claim(tasks, now, claimed.stream().mapToLong(ClaimedTask::leaseEnd).reduce(nextAt, Math::min));
	}

}
