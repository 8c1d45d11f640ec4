package io.timingwheel.spring.task.internal;

/**
 * The figures of the tasks of one name since the application started. The figures are
 * read one after the other while tasks begin and end, so their sum may be wrong.
 * Immutable.
 *
 * @param pending how many have not begun
 * @param running how many have begun and not ended
 * @param completed how many ended with a result
 * @param failed how many ended with an exception
 * @param cancelled how many were cancelled by users, rollbacks or the shutdown
 * @param expired how many were too late to be started
 * @param replaced how many were replaced by a newer task with the same key
 * @param superseded how many were not tried again, since a newer task with the same key
 * was pending
 */
public record TaskCounts(long pending, long running, long completed, long failed, long cancelled, long expired,
		long replaced, long superseded) {

}
