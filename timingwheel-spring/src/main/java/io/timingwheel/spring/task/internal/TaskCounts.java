package io.timingwheel.spring.task.internal;

/**
 * The figures of the tasks of one name since the application started. The figures are
 * read one after the other while tasks begin and end, so their sum may be wrong.
 * Immutable.
 *
 * <p>
 * The tasks that are pending have not begun. The tasks that run have begun and not ended.
 * All others are counted by their {@link TaskOutcome}.
 */
public record TaskCounts(long pending, long running, long completed, long failed, long cancelled, long expired,
		long replaced, long superseded) {

}
