package io.timingwheel.spring.task.memory;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;

/**
 * The timers that end the tasks of one name that are due, have not begun, and are too
 * late to begin. A thread may wait for the future of such a task, and may occupy the
 * executor or the permit that the task needs to find out by itself. Only tasks with a
 * future have a timer. Thread-safe.
 */
final class ExpiryTimers {

	private final NamedTasks tasks;

	private final Map<Long, TimerHandle> timers = new ConcurrentHashMap<>();

	ExpiryTimers(NamedTasks tasks) {
		this.tasks = tasks;
	}

	/**
	 * Starts the timer of a task that is due, if the task can expire. Only the wheel's
	 * thread calls this.
	 */
	void start(PendingTask task) {
		long lateness = task.definition().expireAfterNanos();
		if (lateness != TaskDefinition.NEVER) {
			this.tasks.pending().computeIfPresent(task.slot(), (slot, current) -> {
				if (current == task && task.future() != null) {
					this.timers.computeIfAbsent(task.sequence(), (sequence) -> schedule(task, sequence, lateness));
				}
				return current;
			});
		}
	}

	@SuppressWarnings("NullAway") // computeIfAbsent takes null for no entry.
	private TimerHandle schedule(PendingTask task, long sequence, long lateness) {
		Object slot = task.slot();
		DirectTask expiry = () -> {
			if (this.timers.remove(sequence) != null) {
				this.tasks.environment().handOvers().completions().execute(() -> this.tasks.expire(slot, sequence));
			}
		};
		try {
			// A task that is late by this time exactly may begin.
			return this.tasks.environment().wheel().scheduleAt(expiry, task.dueNanos() + lateness + 1);
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full or has stopped. The task expires when its turn comes.
			return null;
		}
	}

	/**
	 * Cancels the timer of a task that begins or leaves the map.
	 */
	void stop(long sequence) {
		if (!this.timers.isEmpty()) {
			TimerHandle timer = this.timers.remove(sequence);
			if (timer != null) {
				timer.cancel();
			}
		}
	}

}
