package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.function.LongPredicate;
import java.util.function.Predicate;

import io.timingwheel.spring.task.internal.RunningBodies;
import org.springframework.core.task.TaskRejectedException;

/**
 * Ends the tasks in memory at the shutdown, which they ask whether they may run.
 * Thread-safe.
 */
public final class TaskShutdown {

	volatile boolean accepting = true;

	/** By the time when a task is due. Matters once no more tasks are accepted. */
	private volatile LongPredicate mayRun = (dueNanos) -> true;

	private final RunningBodies bodies = new RunningBodies();

	private final DelayedTaskRegistry tasks;

	TaskShutdown(DelayedTaskRegistry tasks) {
		this.tasks = tasks;
	}

	public RunningBodies bodies() {
		return this.bodies;
	}

	void checkAccepting(String name) {
		if (!this.accepting) {
			throw new TaskRejectedException(
					"The task \"%s\" was not accepted: the application is shutting down".formatted(name));
		}
	}

	/**
	 * Whether a pending task may still run. The shutdown changes this answer before it
	 * looks for tasks to cancel, and a thread that makes a task pending asks afterwards,
	 * so one of the two cancels the task.
	 */
	boolean mayRun(long dueNanos) {
		return this.accepting || this.mayRun.test(dueNanos);
	}

	public void stopAccepting() {
		this.accepting = false;
	}

	public long cancelPending() {
		if (!this.accepting) {
			this.mayRun = (dueNanos) -> false;
		}
		return cancel((task) -> true);
	}

	private long cancel(Predicate<PendingTask> condition) {
		return this.tasks.pending()
			.filter(condition)
			.filter((task) -> task.tasks().cancelAtShutdown(task.slot))
			.count();
	}

	/**
	 * Refuses new tasks, runs those that are due within a period, cancels the others and
	 * those of paused names, and waits for the bodies.
	 * @return whether all tasks that had begun have ended
	 */
	public boolean runDue(Duration period) throws InterruptedException {
		stopAccepting();
		try {
			if (!timeStandsStill()) {
				setLastDue(this.tasks.clock().after(period).dueNanos());
				cancel((task) -> task.tasks().gate.paused || !mayRun(task.dueNanos));
				RunningBodies.await(() -> this.tasks.pendingCount() == 0 && runningCount() == 0, period);
			}
		}
		finally {
			cancelPending();
		}
		return runningCount() == 0;
	}

	void setLastDue(long lastDueNanos) {
		this.mayRun = (dueNanos) -> dueNanos - lastDueNanos <= 0;
	}

	public boolean awaitRunning(Duration period) throws InterruptedException {
		return RunningBodies.await(() -> runningCount() == 0, period);
	}

	/** With virtual time nothing falls due or ends while nobody moves the time. */
	private boolean timeStandsStill() {
		return this.tasks.clock().manualTime != null;
	}

	/**
	 * How many tasks run whose end the shutdown may wait for: not those whose bodies wait
	 * for the end of the application.
	 */
	public long runningCount() {
		if (timeStandsStill()) {
			return 0;
		}
		long running = this.tasks.runningCount();
		return (running > 0) ? Math.max(0, running - this.bodies.waitingForEnd()) : 0;
	}

}
