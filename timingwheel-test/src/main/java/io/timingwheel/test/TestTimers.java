package io.timingwheel.test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;

import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;

/**
 * The timers and schedules that application and tests have put on the wheel themselves,
 * so that those of one test method do not reach the next one. Thread-safe.
 */
final class TestTimers {

	/** How many entries there are before the first search for those that have ended. */
	private static final int FEW = 64;

	private final List<Entry> entries = new ArrayList<>();

	private int searchAt = FEW;

	/** The tasks of the application itself, {@code null} before the first reset. */
	private @Nullable Set<Object> fromTheStart;

	TimerHandle add(Object task, TimerHandle timer) {
		add(new Timer(task, timer));
		return timer;
	}

	void add(Object task, Future<?> schedule) {
		add(new Schedule(task, schedule, () -> {
		}));
	}

	/**
	 * Notes a schedule.
	 * @param onTimeSet called after the time was set back, if the schedule stays
	 */
	void add(Future<?> schedule, Runnable onTimeSet) {
		add(new Schedule(schedule, schedule, onTimeSet));
	}

	private synchronized void add(Entry entry) {
		if (this.entries.size() >= this.searchAt) {
			this.entries.removeIf((earlier) -> !earlier.isPending());
			this.searchAt = Math.max(FEW, 2 * this.entries.size());
		}
		this.entries.add(entry);
	}

	/**
	 * Cancels what is pending, except tasks that were pending at the first call. The
	 * application may have scheduled such a task again since. The caller has set the time
	 * back.
	 */
	synchronized void reset() {
		this.entries.removeIf((entry) -> !entry.isPending());
		Set<Object> spared = this.fromTheStart;
		if (spared == null) {
			Set<Object> tasks = Collections.newSetFromMap(new IdentityHashMap<>());
			this.entries.forEach((entry) -> tasks.add(entry.task()));
			this.fromTheStart = tasks;
			return;
		}
		for (Entry entry : List.copyOf(this.entries)) {
			if (spared.contains(entry.task())) {
				entry.timeSet();
			}
			else {
				entry.cancel();
				this.entries.remove(entry);
			}
		}
	}

	private sealed interface Entry {

		Object task();

		boolean isPending();

		void cancel();

		default void timeSet() {
		}

	}

	private record Timer(Object task, TimerHandle handle) implements Entry {

		@Override
		public boolean isPending() {
			return this.handle.isPending();
		}

		@Override
		public void cancel() {
			this.handle.cancel();
		}

	}

	private record Schedule(Object task, Future<?> future, Runnable onTimeSet) implements Entry {

		@Override
		public boolean isPending() {
			return !this.future.isDone();
		}

		@Override
		public void cancel() {
			this.future.cancel(false);
		}

		@Override
		public void timeSet() {
			this.onTimeSet.run();
		}

	}

}
