package io.timingwheel.interleaving;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The model of a {@link java.util.concurrent.locks.ReentrantLock} and of a monitor.
 * Outside a {@link Run} there is only one thread, and the methods only count.
 */
public final class ModelLock {

	/** How many locks are held outside a run. */
	static int heldOutside;

	private final int[] released = new int[DataRaces.MOST_THREADS];

	private final List<ModelThread> lockedOut = new ArrayList<>();

	private ModelThread owner;

	private int holds;

	public void lock() {
		ModelThread current = ModelThread.current();
		if (current == null) {
			heldOutside++;
			return;
		}
		current.scheduler().beforeStep(current);
		while (this.owner != null && this.owner != current) {
			current.state = ModelThread.State.LOCKED_OUT;
			this.lockedOut.add(current);
			current.scheduler().block(current);
		}
		take(current);
	}

	public boolean tryLock() {
		ModelThread current = ModelThread.current();
		if (current == null) {
			heldOutside++;
			return true;
		}
		current.scheduler().beforeStep(current);
		if (this.owner != null && this.owner != current) {
			return false;
		}
		take(current);
		return true;
	}

	/**
	 * Locks. If there is any time to wait, this waits until the lock is free, since the
	 * time stands still.
	 */
	public boolean tryLock(long time, TimeUnit unit) {
		if (time <= 0) {
			return tryLock();
		}
		lock();
		return true;
	}

	private void take(ModelThread current) {
		this.owner = current;
		this.holds++;
		current.locks++;
		current.scheduler().races().acquire(current.index, this.released);
	}

	public void unlock() {
		ModelThread current = ModelThread.current();
		if (current == null) {
			heldOutside--;
			return;
		}
		if (current.scheduler().failure() != null) {
			return;
		}
		if (this.owner != current) {
			throw new IllegalMonitorStateException();
		}
		current.scheduler().races().release(current.index, this.released);
		current.locks--;
		if (--this.holds == 0) {
			this.owner = null;
			this.lockedOut.forEach((thread) -> thread.state = ModelThread.State.RUNNABLE);
			this.lockedOut.clear();
		}
	}

}
