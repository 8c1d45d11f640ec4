package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A lock that is held for some nanoseconds at a time. It is not reentrant. A release is
 * an ordered store, which is cheaper than the full fence of a JDK lock, and wakes no
 * thread. A thread that does not get the lock soon sleeps for a moment and tries again.
 *
 * <p>
 * While the driver waits, no other thread takes the lock. Otherwise the driver would
 * sleep again and again behind busy callers, and all timers that are due would be late.
 */
abstract class ShardLock extends Padding implements AutoCloseable {

	private static final int SPINS = 100;

	private static final long SLEEP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

	private static final VarHandle LOCKED = handle(MethodHandles.lookup(), "locked", int.class);

	private static final VarHandle RESERVED = handle(MethodHandles.lookup(), "reserved", int.class);

	/** 1 while a thread holds the lock, otherwise 0. */
	private volatile int locked;

	/** 1 while the driver waits for the lock, otherwise 0. */
	volatile int reserved;

	static VarHandle handle(MethodHandles.Lookup lookup, String field, Class<?> type) {
		try {
			return lookup.findVarHandle(lookup.lookupClass(), field, type);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	ShardLock lock() {
		if (this.reserved != 0 || !tryLock()) {
			await(false);
		}
		return this;
	}

	/** Takes the lock as the next thread. Only for the driver. */
	ShardLock lockNext() {
		if (!tryLock()) {
			this.reserved = 1;
			try {
				await(true);
			}
			finally {
				RESERVED.setRelease(this, 0);
			}
		}
		return this;
	}

	private boolean tryLock() {
		return LOCKED.compareAndSet(this, 0, 1);
	}

	private void await(boolean driver) {
		boolean interrupted = false;
		do {
			for (int i = 0; i < SPINS && !isFree(driver); i++) {
				Thread.onSpinWait();
			}
			if (!isFree(driver)) {
				LockSupport.parkNanos(this, SLEEP_NANOS);
				// If the interrupt flag stayed set, this thread could not sleep.
				interrupted |= Thread.interrupted();
			}
		}
		while (!isFree(driver) || !tryLock());
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private boolean isFree(boolean driver) {
		return this.locked == 0 && (driver || this.reserved == 0);
	}

	@Override
	public void close() {
		LOCKED.setRelease(this, 0);
	}

}
