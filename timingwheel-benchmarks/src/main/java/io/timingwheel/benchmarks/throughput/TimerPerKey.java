package io.timingwheel.benchmarks.throughput;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.timingwheel.benchmarks.peer.PeerTask;
import io.timingwheel.benchmarks.peer.TimerPeer;

/** Each key has a timer that its heartbeat resets. */
final class TimerPerKey implements Heartbeats {

	private final Map<Long, Object> timerOf = new ConcurrentHashMap<>();

	private final TimerPeer timers;

	TimerPerKey(TimerPeer timers) {
		this.timers = timers;
	}

	@Override
	public void beat(Long key) {
		Object timer = this.timerOf.get(key);
		Object moved = (timer != null) ? this.timers.reset(timer, PeerTask.NO_OP, Delays.LONGEST)
				: this.timers.schedule(PeerTask.NO_OP, Delays.LONGEST);
		if (moved != timer) {
			this.timerOf.put(key, moved);
		}
	}

	@Override
	public void close() {
		this.timers.close();
	}

}
