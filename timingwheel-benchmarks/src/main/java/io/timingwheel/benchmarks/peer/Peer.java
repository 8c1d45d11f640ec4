package io.timingwheel.benchmarks.peer;

import java.time.Duration;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.benchmarks.Contestant;

/** The contestants. */
public enum Peer implements Contestant {

	TIMINGWHEEL("timingwheel", () -> new TimingWheelPeer(Duration.ofMillis(1))),

	TIMINGWHEEL_100US("timingwheel, tick 100 us", () -> new TimingWheelPeer(Duration.ofNanos(100_000))),

	TIMINGWHEEL_ONE_SHARD("timingwheel, one shard",
			() -> new TimingWheelPeer(TimingWheel.builder(Runnable::run).shards(1))),

	NETTY_1MS("Netty, tick 1 ms", () -> new NettyPeer(1)),

	NETTY_100MS("Netty, tick 100 ms", () -> new NettyPeer(100)),

	KAFKA("Kafka SystemTimer", KafkaPeer::new),

	STPE("ScheduledThreadPoolExecutor", ScheduledExecutorPeer::threadPool),

	SPRING("Spring ThreadPoolTaskScheduler", SpringPeer::new),

	FORK_JOIN_POOL("ForkJoinPool (JDK 25)", ScheduledExecutorPeer::forkJoinPool),

	AGRONA("Agrona, one thread only", AgronaPeer::new);

	private final String label;

	private final Supplier<TimerPeer> factory;

	Peer(String label, Supplier<TimerPeer> factory) {
		this.label = label;
		this.factory = factory;
	}

	public TimerPeer start() {
		return this.factory.get();
	}

	@Override
	public String label() {
		return this.label;
	}

	@Override
	public boolean isOurs() {
		return this == TIMINGWHEEL || this == TIMINGWHEEL_100US || this == TIMINGWHEEL_ONE_SHARD;
	}

	@Override
	public boolean isAvailable() {
		return this != FORK_JOIN_POOL || ScheduledExecutorPeer.hasForkJoinPool();
	}

	public boolean isThreadSafe() {
		return this != AGRONA;
	}

}
