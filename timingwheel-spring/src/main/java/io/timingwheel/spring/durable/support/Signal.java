package io.timingwheel.spring.durable.support;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets one thread wait for a time or for a sign of others. Threads that talk to a store
 * are never interrupted: a file database closes its files on that.
 */
final class Signal {

	private final Lock lock = new ReentrantLock();

	private final Condition condition = this.lock.newCondition();

	private boolean raised;

	/**
	 * Waits until the signal is raised; at once if it was since the last call.
	 */
	void await(long nanos) {
		this.lock.lock();
		try {
			long left = nanos;
			while (!this.raised && left > 0) {
				left = this.condition.awaitNanos(left);
			}
		}
		catch (InterruptedException ex) {
			// Nobody has a reason to: not a sign.
		}
		finally {
			this.raised = false;
			this.lock.unlock();
		}
	}

	void raise() {
		this.lock.lock();
		try {
			this.raised = true;
			this.condition.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

}
