package io.timingwheel;

import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;

import org.jspecify.annotations.Nullable;

/**
 * All shards of a wheel, and the limit of pending timers that they share.
 *
 * <p>
 * Each shard has a quota of the limit, so that a thread that adds a timer reads no shared
 * data. When a quota is used up, the free permits of all shards are collected and shared
 * out again, with all locks held. A timer is therefore rejected only at a moment at which
 * the limit is reached. Only the methods of this class hold more than one shard's lock at
 * a time. A thread that holds some of the locks does not sleep for another one, since the
 * driver may wait for those, unless several attempts have failed.
 */
final class Shards {

	/** How often a thread tries to take all locks without a sleep. */
	private static final int ATTEMPTS = 10;

	final Shard[] shards;

	private final int mask;

	private final long limit;

	private final LongAdder rejected = new LongAdder();

	Shards(int count, long limit, IntFunction<Shard> factory) {
		this.shards = new Shard[count];
		this.mask = count - 1;
		this.limit = limit;
		for (int i = 0; i < count; i++) {
			this.shards[i] = factory.apply(i);
			if (limit != Long.MAX_VALUE) {
				this.shards[i].quota(share(limit, count, i));
			}
		}
	}

	private static long share(long total, int parts, int part) {
		return total / parts + ((part < total % parts) ? 1 : 0);
	}

	/**
	 * The shard of the calling thread. All timers of one thread go to the same shard,
	 * which keeps them in order.
	 */
	Shard mine() {
		return this.shards[(int) Thread.currentThread().getId() & this.mask];
	}

	/**
	 * Adds a timer to a shard whose quota is used up.
	 * @throws RejectedExecutionException if the limit is reached or the shard is closed
	 */
	void addAtQuota(Shard shard, Timer timer, long dueTick) {
		lockAll();
		try {
			long free = this.limit;
			for (Shard each : this.shards) {
				free -= each.pending();
			}
			if (free <= 0) {
				this.rejected.increment();
				throw new RejectedExecutionException("The limit of " + this.limit + " pending timers is reached");
			}
			dealOut(free - 1, shard);
			shard.addLocked(timer, dueTick);
		}
		finally {
			unlockAll();
		}
	}

	/**
	 * Shares out the free permits, and gives one more to the given shard.
	 */
	private void dealOut(long free, Shard adding) {
		for (int i = 0; i < this.shards.length; i++) {
			Shard shard = this.shards[i];
			shard.quota(shard.pending() + share(free, this.shards.length, i) + ((shard == adding) ? 1 : 0));
		}
	}

	/**
	 * The shard that the driver serves next: the shard with the earliest slot if that
	 * slot has begun, otherwise the shard with the earliest wake-up.
	 */
	Shard nextToServe(long now) {
		Shard due = this.shards[0];
		Shard wake = due;
		for (int i = 1; i < this.shards.length; i++) {
			Shard shard = this.shards[i];
			if (shard.nextDue() < due.nextDue()) {
				due = shard;
			}
			if (shard.nextWake() < wake.nextWake()) {
				wake = shard;
			}
		}
		return (due.nextDue() <= now) ? due : wake;
	}

	/**
	 * The first tick at which a slot of any shard may begin.
	 */
	long nextDue() {
		long due = Wheel.NEVER;
		for (Shard shard : this.shards) {
			due = Math.min(due, shard.nextDue());
		}
		return due;
	}

	/**
	 * The first tick at which the driver may have something to do.
	 */
	long nextWake() {
		long wake = Wheel.NEVER;
		for (Shard shard : this.shards) {
			wake = Math.min(wake, shard.nextWake());
		}
		return wake;
	}

	void close() {
		for (Shard shard : this.shards) {
			shard.close();
		}
	}

	/**
	 * Ends all timers in slots, and collects their tasks.
	 * @param inHand the shard whose batch the driver still has in hand, null if there is
	 * none
	 */
	void drainTo(List<Runnable> tasks, @Nullable Shard inHand) {
		for (Shard shard : this.shards) {
			shard.drainTo(tasks, shard == inHand);
		}
	}

	/**
	 * Records that {@code stop} has failed, so that another call collects the timers that
	 * come back until then.
	 */
	void drainFailed() {
		for (Shard shard : this.shards) {
			shard.drainFailed();
		}
	}

	long pending() {
		long pending = 0;
		lockAll();
		try {
			for (Shard shard : this.shards) {
				pending += shard.pending();
			}
		}
		finally {
			unlockAll();
		}
		return pending;
	}

	WheelTotals totals() {
		WheelTotals totals = new WheelTotals();
		lockAll();
		try {
			for (Shard shard : this.shards) {
				shard.addTo(totals);
			}
		}
		finally {
			unlockAll();
		}
		totals.rejected = this.rejected.sum();
		return totals;
	}

	void addTo(WheelSlots.Sums sums) {
		for (Shard shard : this.shards) {
			shard.lock();
			try {
				shard.addTo(sums);
			}
			finally {
				shard.unlock();
			}
		}
	}

	private void lockAll() {
		for (int i = 0; i < ATTEMPTS; i++) {
			Shard held = lockAllSoon();
			if (held == null) {
				return;
			}
			held.lock();
			held.unlock();
		}
		for (Shard shard : this.shards) {
			shard.lock();
		}
	}

	/**
	 * Takes the locks of all shards, or none of them if another thread holds one for
	 * long.
	 * @return the shard whose lock another thread holds, null if this thread holds all
	 */
	private @Nullable Shard lockAllSoon() {
		for (int i = 0; i < this.shards.length; i++) {
			if (!this.shards[i].lockSoon()) {
				for (int taken = 0; taken < i; taken++) {
					this.shards[taken].unlock();
				}
				return this.shards[i];
			}
		}
		return null;
	}

	private void unlockAll() {
		for (Shard shard : this.shards) {
			shard.unlock();
		}
	}

}
