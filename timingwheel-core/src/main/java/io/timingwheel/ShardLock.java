package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that is held for some nanoseconds at a time. It is not reentrant. A release is
 * an ordered store, which is cheaper than the full fence of a JDK lock. A release wakes
 * no thread. A thread that does not get the lock soon sleeps for a moment and tries
 * again.
 */
final class ShardLock extends Padding {

	private static final int SPINS = 100;

	private static final long SLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

	private static final VarHandle LOCKED;
	static {
		try {
			LOCKED = MethodHandles.lookup().findVarHandle(ShardLock.class, "locked", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** 1 while a thread holds the lock, otherwise 0. */
	private volatile int locked;

	@SuppressWarnings("unused")
	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

	void lock() {
		if (!tryLock()) {
			await();
		}
	}

	private boolean tryLock() {
		return LOCKED.compareAndSet(this, 0, 1);
	}

	private void await() {
		boolean interrupted = false;
		do {
			for (int i = 0; i < SPINS && this.locked != 0; i++) {
				Thread.onSpinWait();
			}
			if (this.locked != 0) {
				LockSupport.parkNanos(this, SLEEP_NANOS);
				// If the interrupt flag stayed set, this thread could not sleep.
				interrupted |= Thread.interrupted();
			}
		}
		while (this.locked != 0 || !tryLock());
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	void unlock() {
		LOCKED.setRelease(this, 0);
	}

}
