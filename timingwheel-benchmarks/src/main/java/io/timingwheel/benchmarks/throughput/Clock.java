package io.timingwheel.benchmarks.throughput;

import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** When a caller reads the clock. */
public enum Clock {

	/** The timers read the clock in each call. */
	EACH_CALL,

	/**
	 * The caller reads the clock once for {@link #TURN} calls, as an event loop does in
	 * each turn. A peer that takes no deadline reads the clock in each call nevertheless.
	 */
	EACH_TURN;

	/** The calls of a turn. */
	public static final int TURN = 64;

	/** A thread that calls the timers. */
	@State(Scope.Thread)
	public static class Caller {

		@Param("EACH_CALL")
		@SuppressWarnings("NullAway.Init")
		public Clock clock;

		private int calls;

		private long now;

		/** The number of the next call. */
		int next() {
			return this.calls;
		}

		Object schedule(TimerPeer timers, long delay) {
			if (this.clock == EACH_CALL) {
				this.calls++;
				return timers.schedule(PeerTask.NO_OP, delay);
			}
			return timers.scheduleFrom(PeerTask.NO_OP, now(timers), delay);
		}

		Object reset(TimerPeer timers, Object timer, long delay) {
			if (this.clock == EACH_CALL) {
				this.calls++;
				return timers.reset(timer, PeerTask.NO_OP, delay);
			}
			return timers.resetFrom(timer, PeerTask.NO_OP, now(timers), delay);
		}

		private long now(TimerPeer timers) {
			if ((this.calls++ & (TURN - 1)) == 0) {
				this.now = timers.nanoTime();
			}
			return this.now;
		}

	}

}
