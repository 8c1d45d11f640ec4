package io.timingwheel.spring.task.support;

import java.time.Duration;

import io.timingwheel.spring.task.internal.RunningBodies;

/**
 * Ends the tasks of a {@link DelayedTaskRegistry} when the application shuts down.
 * Thread-safe.
 *
 * @since 0.1
 */
public final class TaskShutdown {

	private final TaskDirectory directory;

	private final TaskClock clock;

	private final ShutdownState state;

	private final RunningBodies bodies;

	private final boolean timeStands;

	TaskShutdown(TaskDirectory directory, TaskEnvironment environment) {
		this.directory = directory;
		this.clock = environment.clock();
		this.state = environment.shutdown();
		this.bodies = environment.bodies();
		this.timeStands = environment.manualTime() != null;
	}

	/**
	 * Refuses new tasks from now on.
	 */
	public void stopAccepting() {
		this.state.stopAccepting();
	}

	/**
	 * Cancels all tasks that have not begun; their futures complete as cancelled.
	 * @return how many there were
	 */
	public long cancelPending() {
		this.state.setNoneMayRun();
		long cancelled = 0;
		for (NamedTasks tasks : this.directory.all()) {
			for (PendingTask task : tasks.pending().values()) {
				cancelled += tasks.cancel(task.slot()) ? 1 : 0;
			}
		}
		return cancelled;
	}

	/**
	 * Refuses new tasks, runs the tasks that are due within a period, cancels the others
	 * and those of paused names, and waits for the bodies that run.
	 * @param period how long to wait at most; more than 146 years count as that long
	 * @return whether all tasks that had begun have ended
	 * @throws InterruptedException if the thread was interrupted; the tasks that have not
	 * begun are cancelled then too
	 */
	public boolean runDue(Duration period) throws InterruptedException {
		stopAccepting();
		if (this.timeStands) {
			// No task falls due while nobody moves the time.
			cancelPending();
			return runningCount() == 0;
		}
		long deadline = TaskClock.deadline(System.nanoTime(), period);
		this.state.setLastDue(TaskClock.deadline(this.clock.nanoTime(), period));
		cancelLate();
		try {
			this.state.await(() -> this.directory.pendingCount() == 0 && runningCount() == 0, deadline);
		}
		finally {
			cancelPending();
		}
		return runningCount() == 0;
	}

	private void cancelLate() {
		for (NamedTasks tasks : this.directory.all()) {
			for (PendingTask task : tasks.pending().values()) {
				if (tasks.isPaused() || !this.state.mayRun(task.dueNanos())) {
					tasks.cancel(task.slot());
				}
			}
		}
	}

	/**
	 * Waits until no body runs.
	 * @param period how long to wait at most; more than 146 years count as that long
	 * @return whether none runs
	 * @throws InterruptedException if the thread was interrupted
	 */
	public boolean awaitRunning(Duration period) throws InterruptedException {
		if (this.timeStands) {
			// Bodies run on the thread that moves the time. A future that is not done
			// has most likely been forgotten by a test.
			return runningCount() == 0;
		}
		return this.state.await(() -> runningCount() == 0, TaskClock.deadline(System.nanoTime(), period));
	}

	/**
	 * How many tasks run, without those whose bodies wait for the end of the application.
	 * @return the number
	 */
	public long runningCount() {
		long running = this.directory.runningCount();
		return (running > 0) ? Math.max(0, running - this.bodies.waitingForEnd()) : 0;
	}

}
