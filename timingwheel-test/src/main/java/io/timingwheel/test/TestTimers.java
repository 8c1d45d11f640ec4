package io.timingwheel.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;

import io.timingwheel.TimerHandle;
import io.timingwheel.TimingWheel;
import io.timingwheel.internal.PendingTimers;
import org.jspecify.annotations.Nullable;

/**
 * Cancels the timers and schedules that a test method has put on the wheel, so that they
 * do not reach the next one. Thread-safe.
 */
final class TestTimers {

	/** The delayed tasks and the node forget their own timers. */
	private static final String OWN_PACKAGE = "io.timingwheel.spring.";

	private final List<TestScheduler.Triggered> triggered = new ArrayList<>();

	/** The tasks of the application itself, {@code null} before the first reset. */
	private @Nullable Set<Object> fromTheStart;

	synchronized void add(TestScheduler.Triggered schedule) {
		this.triggered.removeIf(Future::isDone);
		this.triggered.add(schedule);
	}

	/**
	 * Cancels what is pending, except tasks that were pending at the first call. The
	 * application may have scheduled such a task again since. The caller has set the time
	 * back.
	 */
	synchronized void reset(TimingWheel wheel) {
		this.triggered.removeIf(Future::isDone);
		Set<Object> spared = this.fromTheStart;
		if (spared == null) {
			Set<Object> tasks = Collections.newSetFromMap(new IdentityHashMap<>());
			tasks.addAll(this.triggered);
			forEachPending(wheel, (task, timer) -> tasks.add(task));
			this.fromTheStart = tasks;
			return;
		}
		this.triggered.removeIf((schedule) -> !spared.contains(schedule));
		forEachPending(wheel, (task, timer) -> {
			if (!spared.contains(task)) {
				cancel(task, timer);
			}
		});
		this.triggered.forEach(TestScheduler.Triggered::restart);
	}

	private static void forEachPending(TimingWheel wheel, BiConsumer<Runnable, TimerHandle> visitor) {
		if (wheel instanceof PendingTimers timers) {
			timers.forEachPending(Integer.MAX_VALUE, (task, timer) -> {
				if (!task.getClass().getName().startsWith(OWN_PACKAGE)) {
					visitor.accept(task, timer);
				}
			});
		}
	}

	private static void cancel(Runnable task, TimerHandle timer) {
		if (task instanceof Future<?> future) {
			future.cancel(false);
		}
		else {
			timer.cancel();
		}
	}

}
