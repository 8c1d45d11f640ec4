package io.timingwheel.benchmarks.throughput;

import io.timingwheel.benchmarks.peer.Peer;
import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;
import org.jspecify.annotations.NullUnmarked;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * A peer with many pending timers. It lives as long as its JVM: JMH may end a trial while
 * a thread still cleans up after its last iteration.
 */
@NullUnmarked
@State(Scope.Benchmark)
public class PendingTimers {

	@Param
	public Peer peer;

	@Param("RANDOM")
	public Delays delays;

	@Param("1000000")
	public int pending;

	TimerPeer timers;

	/** The pending timers, as their user would keep them to reset them. */
	Object[] handles;

	@Setup(Level.Trial)
	public void schedule() throws InterruptedException {
		this.timers = this.peer.start();
		this.handles = new Object[this.pending];
		for (int i = 0; i < this.pending; i++) {
			this.handles[i] = this.timers.schedule(PeerTask.NO_OP, this.delays.pendingDelay(i));
		}
		this.timers.settle();
	}

}
