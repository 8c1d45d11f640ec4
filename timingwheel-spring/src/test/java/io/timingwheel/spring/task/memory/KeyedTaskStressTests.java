package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import io.timingwheel.spring.task.internal.PolicySettings.StartRate;
import io.timingwheel.spring.task.internal.TaskRecorder.TaskCounts;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static io.timingwheel.spring.task.memory.VirtualTasks.NAME;
import static io.timingwheel.spring.task.memory.VirtualTasks.id;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Calls that race. Each task ends in exactly one way, a cancelled or replaced task has
 * not run, and at most one task is pending per key.
 */
class KeyedTaskStressTests {

	private static final int THREADS = 4;

	private static final int OPERATIONS = 50_000;

	private static final int KEYS = 5;

	static List<PolicySettings> policies() {
		return List.of(PolicySettings.NONE,
				new PolicySettings(null, BackoffSettings.NONE, 2, 1, StartRate.parse("50000/s"), null));
	}

	@ParameterizedTest
	@MethodSource("policies")
	void everyTaskEndsInExactlyOneWayAndTheLimitsHold(PolicySettings policy) throws Exception {
		try (RealTasks tasks = new RealTasks(3, Map.of(NAME, policy))) {
			DelayedTaskRegistry registry = tasks.registry;
			AtomicInteger running = new AtomicInteger();
			AtomicIntegerArray runningByKey = new AtomicIntegerArray(KEYS);
			AtomicInteger beyondLimits = new AtomicInteger();
			List<List<Watched>> all = new CopyOnWriteArrayList<>();
			CountDownLatch done = new CountDownLatch(THREADS);
			for (int t = 0; t < THREADS; t++) {
				SplittableRandom random = new SplittableRandom(t);
				List<Watched> mine = new ArrayList<>();
				all.add(mine);
				new Thread(() -> {
					for (int i = 0; i < OPERATIONS; i++) {
						int key = random.nextInt(KEYS);
						Duration delay = Duration.ofNanos(Math.max(0, random.nextInt(4_000_000) - 1_000_000));
						switch (random.nextInt(6)) {
							case 0 -> tasks.template.cancel(id(key));
							case 1 -> tasks.template.reschedule(id(key), delay);
							case 2 ->
								tasks.template.find(id(key)).ifPresent((task) -> task.cancel(random.nextBoolean()));
							default -> {
								Watched watched = new Watched(() -> {
									if (running.incrementAndGet() > 2 | runningByKey.incrementAndGet(key) > 1) {
										beyondLimits.incrementAndGet();
									}
									Thread.onSpinWait();
									runningByKey.decrementAndGet(key);
									running.decrementAndGet();
								});
								watched.task = tasks.template.task(watched)
									.id(id(key))
									.ifPending(random.nextBoolean() ? IfPending.UPDATE : IfPending.REPLACE)
									.after(delay);
								mine.add(watched);
							}
						}
					}
					done.countDown();
				}).start();
			}
			for (int i = 0; i < 200 && policy.limitsStarts() && done.getCount() > 0; i++) {
				registry.setPaused(NAME, i % 2 == 0);
				done.await(5, TimeUnit.MILLISECONDS);
			}
			registry.setPaused(NAME, false);
			done.await();
			await().until(() -> registry.pendingCount() == 0 && registry.runningCount() == 0);
			await().until(() -> tasks.wheel.pending() == 0);
			List<Watched> scheduled = all.stream().flatMap(List::stream).toList();
			// A task is no longer running when its future completes.
			await().until(() -> scheduled.stream().allMatch((watched) -> watched.task.isDone()));
			assertThat(registry.waiting(NAME)).isZero();
			TaskCounts counts = registry.counts(NAME);
			assertThat(counts.completed() + counts.cancelled() + counts.replaced()).isEqualTo(scheduled.size());
			assertThat(scheduled).allSatisfy((watched) -> {
				Status status = watched.task.status();
				assertThat(watched.ran).isBetween((status == Status.SUCCEEDED) ? 1 : 0,
						(status == Status.REPLACED) ? 0 : 1);
			});
			if (policy.limitsStarts()) {
				assertThat(beyondLimits).hasValue(0);
			}
		}
	}

	@Test
	void anIdThatIsReadOrCancelledSparesTheTaskThatReplacedItsOwn() {
		try (RealTasks tasks = new RealTasks(1, Map.of())) {
			Supplier<DelayedTask<?>> heartbeat = () -> tasks.template.schedule(id(1), Duration.ofHours(1), () -> {
			});
			AtomicReference<DelayedTask<?>> latest = new AtomicReference<>(heartbeat.get());
			Thread heart = new Thread(() -> {
				for (int i = 0; i < 2 * OPERATIONS; i++) {
					latest.set(heartbeat.get());
				}
			});
			heart.start();
			long cancelled = 0;
			while (heart.isAlive()) {
				DelayedTask<?> task = latest.get();
				new MemoryTaskReader(tasks.registry).find(NAME, task.id())
					.ifPresent((found) -> assertThat(found.id()).isEqualTo(task.id()));
				if (tasks.registry.cancel(NAME, task.id())) {
					cancelled++;
					assertThat(task.status()).isEqualTo(Status.CANCELLED);
				}
			}
			assertThat(tasks.registry.counts(NAME).cancelled()).isEqualTo(cancelled);
		}
	}

	private static final class Watched implements Runnable {

		private final Runnable body;

		private volatile int ran;

		private DelayedTask<?> task;

		Watched(Runnable body) {
			this.body = body;
		}

		@Override
		public void run() {
			this.body.run();
			this.ran = this.ran + 1;
		}

	}

}
