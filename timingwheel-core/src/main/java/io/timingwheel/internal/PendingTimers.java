package io.timingwheel.internal;

import java.util.function.BiConsumer;

import io.timingwheel.TimerHandle;

/**
 * A wheel that shows its pending timers. Each wheel of
 * {@link io.timingwheel.TimingWheel.Builder#build()} does.
 */
public interface PendingTimers {

	/**
	 * Passes on the pending timers that are due first, in the order in which they are
	 * due, with their tasks as they were scheduled. Takes the lock of each shard for a
	 * time that grows with the number of its timers, and holds none while the visitor
	 * runs.
	 * @param limit how many timers at most
	 * @param visitor takes the task and the handle of each timer
	 */
	void forEachPending(int limit, BiConsumer<? super Runnable, ? super TimerHandle> visitor);

}
