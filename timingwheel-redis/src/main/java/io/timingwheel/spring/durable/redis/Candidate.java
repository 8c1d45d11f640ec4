package io.timingwheel.spring.durable.redis;

import java.util.Comparator;

/**
 * A task that a partition could give to a claim.
 *
 * @param time the time by which the partition found the task
 * @param due whether the task may begin
 */
record Candidate(int partition, String name, long time, boolean due) {

	static final Comparator<Candidate> BY_TIME = Comparator.comparingLong(Candidate::time);

}
