package io.timingwheel.internal;

import java.util.function.BiConsumer;

import io.timingwheel.TimerHandle;

/**
 * A wheel that shows its pending timers. Each wheel of
 * {@link io.timingwheel.TimingWheel.Builder#build()} does.
 */
public interface PendingTimers {

	/**
	 * Passes on all pending timers, in no order. Holds no lock while the visitor runs.
	 * @param visitor takes the task of each timer as it was scheduled, and the handle
	 */
	void forEachPending(BiConsumer<? super Runnable, ? super TimerHandle> visitor);

}
