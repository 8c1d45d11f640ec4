package io.timingwheel;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.LongAdder;

/**
 * A counter that one thread increments without an atomic instruction, which would cost a
 * third of a move by deadline. The first thread that increments the counter owns it for
 * good. Mostly this is the thread that has scheduled the timers. All other threads use a
 * {@link LongAdder}.
 */
abstract class OwnedCounter extends Padding {

	/** No thread has this id. */
	private static final long NOBODY = -1;

	private static final VarHandle OWNER;

	private static final VarHandle COUNT;
	static {
		try {
			OWNER = MethodHandles.lookup().findVarHandle(OwnedCounter.class, "owner", long.class);
			COUNT = MethodHandles.lookup().findVarHandle(OwnedCounter.class, "count", long.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** The id of the thread that owns the counter. */
	private volatile long owner = NOBODY;

	/** Only the owner writes this. */
	private volatile long count;

	private final LongAdder others = new LongAdder();

	void increment() {
		long thread = Thread.currentThread().getId();
		long owner = this.owner;
		if (owner == thread || (owner == NOBODY && OWNER.compareAndSet(this, NOBODY, thread))) {
			COUNT.setRelease(this, this.count + 1);
		}
		else {
			this.others.increment();
		}
	}

	long sum() {
		return this.count + this.others.sum();
	}

	/**
	 * Adds the space after the fields, see {@link Padding}.
	 */
	static final class Padded extends OwnedCounter {

		@SuppressWarnings("unused")
		private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

	}

}
