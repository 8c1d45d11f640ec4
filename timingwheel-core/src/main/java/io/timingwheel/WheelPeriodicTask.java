package io.timingwheel;

import java.util.concurrent.Callable;
import java.util.concurrent.RejectedExecutionException;

/**
 * A periodic task of a {@link WheelScheduledExecutorService}. All its runs use the same
 * timer, which keeps its permit of the limit from one run to the next. A further run
 * allocates nothing.
 */
final class WheelPeriodicTask extends WheelScheduledTask<Object> {

	/** Nanoseconds: positive for a fixed rate, negative for a fixed delay. */
	private final long period;

	WheelPeriodicTask(WheelScheduledExecutorService service, Callable<Object> task, long deadline, long period) {
		super(service, task, deadline);
		this.period = period;
	}

	@Override
	public boolean isPeriodic() {
		return true;
	}

	@Override
	boolean runBody() {
		return runAndReset();
	}

	/**
	 * Runs the task for someone to whom {@code stop} has returned it.
	 */
	@Override
	public void run() {
		if (runOnce()) {
			endUnlessWithdrawn(wheelIsStopped());
		}
	}

	/**
	 * Runs the task, and makes its timer pending again for the next run. If another
	 * thread ends the task at the same time, at least one of the two threads ends the
	 * timer: the other thread ends the task and then the timer, and this thread repeats
	 * the timer and then looks whether the task has ended.
	 */
	void run(Timer timer, Shard shard) {
		boolean again = false;
		try {
			again = runOnce() && repeat(timer, shard);
		}
		catch (Throwable ex) {
			// For example no memory for the slot of the next run. The wheel's handler
			// gets the error, too.
			endUnlessWithdrawn(ex);
			throw ex;
		}
		finally {
			if (!again || isDone() || isWithdrawn()) {
				shard.cancelRepeating(timer, !again);
			}
		}
	}

	private boolean repeat(Timer timer, Shard shard) {
		if (this.service.isShutdown()) {
			// A later shutdown finds the waiting task and ends it.
			endUnlessWithdrawn(null);
			return false;
		}
		this.deadline = this.service.next(this.deadline, this.period);
		if (shard.repeat(timer, this.service.nanosUntil(this.deadline))) {
			return true;
		}
		endUnlessWithdrawn(wheelIsStopped());
		return false;
	}

	private static RejectedExecutionException wheelIsStopped() {
		return new RejectedExecutionException("The timing wheel is stopped");
	}

	/**
	 * Ends the timer, also if the executor has not begun the task yet.
	 */
	@Override
	void cancel(Timer timer) {
		timer.cancelRepeating();
	}

}
