package io.timingwheel.benchmarks.peer;

import java.time.Instant;
import java.util.concurrent.Future;

import org.springframework.scheduling.concurrent.ThreadPoolTaskScheduler;

/** Spring's scheduler with its default of one thread. */
final class SpringPeer implements TimerPeer {

	private final ThreadPoolTaskScheduler scheduler = new ThreadPoolTaskScheduler();

	SpringPeer() {
		this.scheduler.setDaemon(true);
		this.scheduler.setRemoveOnCancelPolicy(true);
		this.scheduler.initialize();
	}

	@Override
	public Object schedule(PeerTask task, long delayNanos) {
		return this.scheduler.schedule(task, Instant.now().plusNanos(delayNanos));
	}

	@Override
	public void cancel(Object timer) {
		((Future<?>) timer).cancel(false);
	}

	@Override
	public void close() {
		this.scheduler.shutdown();
	}

}
