package io.timingwheel.benchmarks.peer;

import java.util.concurrent.TimeUnit;

import io.netty.util.HashedWheelTimer;
import io.netty.util.Timeout;
import io.netty.util.concurrent.DefaultThreadFactory;

/** Netty's single wheel, fed through a queue. */
final class NettyPeer implements TimerPeer {

	private static final int SLOTS = 512;

	private final HashedWheelTimer timer;

	NettyPeer(long tickMillis) {
		this.timer = new HashedWheelTimer(new DefaultThreadFactory("netty", true), tickMillis, TimeUnit.MILLISECONDS,
				SLOTS, false);
		this.timer.start();
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.timer.newTimeout(task, delayNanos, TimeUnit.NANOSECONDS);
	}

	@Override
	public void cancel(Object timer) {
		((Timeout) timer).cancel();
	}

	@Override
	public void close() {
		this.timer.stop();
	}

}
