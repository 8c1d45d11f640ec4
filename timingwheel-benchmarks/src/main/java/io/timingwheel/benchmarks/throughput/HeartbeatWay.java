package io.timingwheel.benchmarks.throughput;

import java.util.function.Supplier;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.peer.Peer;

/** The ways to watch heartbeats: a timer per key, and a scan of all keys. */
public enum HeartbeatWay implements Contestant {

	TIMINGWHEEL("timingwheel, a timer per key, moved", () -> new TimerPerKey(Peer.TIMINGWHEEL.start())),

	NETTY("Netty, a timer per key, cancelled and re-made", () -> new TimerPerKey(Peer.NETTY_1MS.start())),

	STPE("ScheduledThreadPoolExecutor, a timer per key, cancelled and re-made",
			() -> new TimerPerKey(Peer.STPE.start())),

	LAST_SEEN("a map of times, scanned each second (late by up to 1 s)", LastSeen::new);

	private final String label;

	private final Supplier<Heartbeats> factory;

	HeartbeatWay(String label, Supplier<Heartbeats> factory) {
		this.label = label;
		this.factory = factory;
	}

	Heartbeats start() {
		return this.factory.get();
	}

	@Override
	public String label() {
		return this.label;
	}

	@Override
	public boolean isOurs() {
		return this == TIMINGWHEEL;
	}

}
