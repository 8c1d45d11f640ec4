package io.timingwheel.benchmarks.peer;

import io.netty.util.Timeout;
import io.netty.util.TimerTask;
import io.timingwheel.DirectTask;

/**
 * A task that implements what nearly every peer takes, so that no peer pays for an
 * adapter.
 */
public abstract class PeerTask implements DirectTask, TimerTask {

	/** Does nothing. */
	public static final PeerTask NO_OP = of(() -> {
	});

	public static PeerTask of(Runnable action) {
		return new PeerTask() {

			@Override
			public void run() {
				action.run();
			}

		};
	}

	@Override
	public final void run(Timeout timeout) {
		run();
	}

}
