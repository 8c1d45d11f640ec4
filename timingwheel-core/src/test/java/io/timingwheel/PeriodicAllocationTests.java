package io.timingwheel;

import java.lang.management.ManagementFactory;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import com.sun.management.ThreadMXBean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestReporter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests that a periodic task allocates nothing from one run to the next.
 */
class PeriodicAllocationTests {

	private static final int WARM_UP = 200;

	private static final int RUNS = 1_000;

	/** A warning of the wheel about its lag also needs memory. */
	private static final int WINDOWS = 10;

	private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	@Test
	void runsOfAPeriodicTaskAllocateNothing(TestReporter reporter) {
		AtomicInteger runs = new AtomicInteger();
		AtomicLong before = new AtomicLong();
		AtomicLong least = new AtomicLong(Long.MAX_VALUE);
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			ScheduledExecutorService service = wheel.asScheduledExecutorService();
			service.scheduleAtFixedRate(() -> {
				int run = runs.incrementAndGet() - WARM_UP;
				if (run >= 0 && run % RUNS == 0) {
					long allocated = allocated();
					if (run > 0) {
						least.set(Math.min(least.get(), allocated - before.get()));
					}
					before.set(allocated);
				}
			}, 1, 1, TimeUnit.MILLISECONDS);
			await().until(() -> least.get() < 8 * RUNS || runs.get() >= WARM_UP + WINDOWS * RUNS);
			double perRun = (double) least.get() / RUNS;
			reporter.publishEntry("bytes per run", "" + perRun);
			assertThat(perRun).isLessThan(8);
		}
	}

	private long allocated() {
		return this.threads.getThreadAllocatedBytes(Thread.currentThread().getId());
	}

}
