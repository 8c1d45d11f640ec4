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

	private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

	@Test
	void runsOfAPeriodicTaskAllocateNothing(TestReporter reporter) {
		AtomicInteger runs = new AtomicInteger();
		AtomicLong before = new AtomicLong();
		AtomicLong after = new AtomicLong(-1);
		try (TimingWheel wheel = TimingWheel.builder(Runnable::run).build()) {
			ScheduledExecutorService service = wheel.asScheduledExecutorService();
			service.scheduleAtFixedRate(() -> {
				int run = runs.incrementAndGet();
				if (run == WARM_UP) {
					before.set(allocated());
				}
				else if (run == WARM_UP + RUNS) {
					after.set(allocated());
				}
			}, 1, 1, TimeUnit.MILLISECONDS);
			await().until(() -> after.get() >= 0);
			double perRun = (double) (after.get() - before.get()) / RUNS;
			reporter.publishEntry("bytes per run", "" + perRun);
			assertThat(perRun).isLessThan(8);
		}
	}

	private long allocated() {
		return this.threads.getThreadAllocatedBytes(Thread.currentThread().getId());
	}

}
