package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.test.util.AopTestUtils;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.awaitIdle;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Many pending calls: each runs once and takes little memory.
 */
@Tag("measuring")
class DelayedScaleTests {

	private static final int KEYS = 100_000;

	private static final int HEARTBEATS = 1_000_000;

	private static final int THREADS = 4;

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("drivers", Drivers.class);

	@Test
	void aMillionHeartbeatsOfAHundredThousandDriversLeaveOnePendingTaskEach() {
		this.runner.run((context) -> {
			Drivers drivers = context.getBean(Drivers.class);
			CountDownLatch done = new CountDownLatch(THREADS);
			for (int t = 0; t < THREADS; t++) {
				int thread = t;
				new Thread(() -> {
					// Each thread has its own drivers, so the last report is known.
					for (int i = 0; i < HEARTBEATS / THREADS; i++) {
						drivers.silent("driver-" + ((i * THREADS + thread) % KEYS), i);
					}
					done.countDown();
				}).start();
			}
			done.await();
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(KEYS);
			assertThat(context.getBean(TimingWheel.class).pending()).isEqualTo(KEYS);
			advance(context, Duration.ofMinutes(9));
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(KEYS);
			advance(context, Duration.ofMinutes(2));
			awaitIdle(context);
			assertThat(counts(context, "driver-silent"))
				.isEqualTo(new TaskCounts(0, 0, KEYS, 0, 0, 0, HEARTBEATS - KEYS, 0));
			Drivers bean = AopTestUtils.getTargetObject(drivers);
			for (int key = 0; key < KEYS; key++) {
				assertThat(bean.fired.get(key)).isOne();
				int last = (HEARTBEATS - KEYS + key) / THREADS;
				assertThat(bean.newest.get(key)).isEqualTo(last);
			}
		});
	}

	@Test
	void aPendingKeyedCallOfAVoidMethodTakesLessThan250Bytes() {
		int calls = 500_000;
		this.runner.run((context) -> {
			Drivers drivers = context.getBean(Drivers.class);
			drivers.offline(-1);
			long before = usedMemory();
			for (int i = 0; i < calls; i++) {
				drivers.offline(1_000_000L + i);
			}
			long bytes = (usedMemory() - before) / calls;
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(calls + 1);
			assertThat(bytes).as("with a long as its key and only argument").isBetween(100L, 230L);
		});
		this.runner.run((context) -> {
			Drivers drivers = context.getBean(Drivers.class);
			drivers.silent("driver-0", 0);
			long before = usedMemory();
			for (int i = 0; i < calls; i++) {
				drivers.silent("driver-" + (100_000 + i), i);
			}
			long bytes = (usedMemory() - before) / calls;
			assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isEqualTo(calls + 1);
			assertThat(bytes).as("with a text of 13 characters and a number").isBetween(100L, 250L);
		});
	}

	private static long usedMemory() {
		Runtime runtime = Runtime.getRuntime();
		for (int i = 0; i < 5; i++) {
			System.gc();
		}
		return runtime.totalMemory() - runtime.freeMemory();
	}

	static class Drivers {

		private final AtomicIntegerArray fired = new AtomicIntegerArray(KEYS);

		private final AtomicIntegerArray newest = new AtomicIntegerArray(KEYS);

		@Delayed(delay = "10m", name = "driver-silent", key = "#driver")
		public void silent(String driver, int report) {
			int key = Integer.parseInt(driver.substring("driver-".length()));
			this.fired.incrementAndGet(key);
			this.newest.set(key, report);
		}

		@Delayed(delay = "10m", key = "#driver")
		public void offline(long driver) {
		}

	}

}
