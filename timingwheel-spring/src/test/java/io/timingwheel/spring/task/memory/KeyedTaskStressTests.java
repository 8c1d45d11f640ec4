package io.timingwheel.spring.task.memory;

import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.timingwheel.TimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.BackoffSettings;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.StartRate;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.internal.TaskPolicies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.interceptor.SimpleAsyncUncaughtExceptionHandler;

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
	void everyTaskEndsInExactlyOneWay(PolicySettings policy) throws Exception {
		ExecutorService pool = Executors.newFixedThreadPool(3);
		TimingWheel wheel = TimingWheel.builder(pool).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				VirtualTasks.policies(Map.of("stress", policy)));
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(pool),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		AtomicLong scheduled = new AtomicLong();
		AtomicLong runs = new AtomicLong();
		AtomicLong cancels = new AtomicLong();
		List<List<Watched>> all = new CopyOnWriteArrayList<>();
		CountDownLatch done = new CountDownLatch(THREADS);
		for (int t = 0; t < THREADS; t++) {
			SplittableRandom random = new SplittableRandom(t);
			List<Watched> mine = new ArrayList<>();
			all.add(mine);
			new Thread(() -> {
				for (int i = 0; i < OPERATIONS; i++) {
					TaskId id = TaskId.of("stress", random.nextInt(KEYS));
					Duration delay = Duration.ofNanos(random.nextInt(3_000_000));
					switch (random.nextInt(6)) {
						case 0 -> cancels.addAndGet(template.cancel(id) ? 1 : 0);
						case 1 -> template.reschedule(id, delay);
						case 2 -> template.find(id).ifPresent((task) -> {
							if (task.cancel(random.nextBoolean()) && task.status() == Status.CANCELLED) {
								cancels.incrementAndGet();
							}
						});
						default -> {
							Watched watched = new Watched(runs);
							watched.task = template.schedule(id, delay, watched);
							scheduled.incrementAndGet();
							mine.add(watched);
						}
					}
				}
				done.countDown();
			}).start();
		}
		for (int i = 0; i < 200 && policy.limitsStarts() && done.getCount() > 0; i++) {
			registry.setPaused("stress", i % 2 == 0);
			done.await(5, TimeUnit.MILLISECONDS);
		}
		registry.setPaused("stress", false);
		done.await();
		await().until(() -> registry.pendingCount() == 0 && registry.runningCount() == 0);
		await().until(() -> wheel.pending() == 0);
		// A task is no longer running when its future completes.
		await().until(() -> all.stream().flatMap(List::stream).allMatch((watched) -> watched.task.isDone()));
		assertThat(registry.waiting("stress")).isZero();
		TaskCounts counts = registry.counts("stress");
		assertThat(counts.completed() + counts.cancelled() + counts.replaced()).isEqualTo(scheduled.get());
		assertThat(all.stream().flatMap(List::stream)).allSatisfy((watched) -> {
			assertThat(watched.task).isNotNull();
			assertThat(watched.task.isDone()).isTrue();
			assertThat(watched.ran).isLessThanOrEqualTo(1);
			if (watched.task.status() == Status.REPLACED) {
				assertThat(watched.ran).isZero();
			}
			if (watched.task.status() == Status.SUCCEEDED) {
				assertThat(watched.ran).isOne();
			}
		});
		wheel.close();
		pool.shutdownNow();
	}

	@Test
	void cancellingByIdSparesTheTaskThatReplacedIt() throws Exception {
		TimingWheel wheel = TimingWheel.builder(Runnable::run).build();
		DelayedTaskRegistry registry = new DelayedTaskRegistry(wheel,
				new TaskClock(TimeSource.system(), Clock.systemUTC()), new HandOverExecutors(), null, null,
				TaskPolicies.none());
		DelayedTaskOperations template = new DefaultDelayedTaskTemplate(registry, VirtualTasks.executors(Runnable::run),
				new SimpleAsyncUncaughtExceptionHandler(), null);
		TaskId id = TaskId.of("heartbeat", 1);
		Supplier<DelayedTask<?>> heartbeat = () -> template.schedule(id, Duration.ofHours(1), () -> {
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
			if (registry.cancel(id.name(), task.id())) {
				cancelled++;
				assertThat(task.status()).isEqualTo(Status.CANCELLED);
			}
		}
		assertThat(registry.counts(id.name()).cancelled()).isEqualTo(cancelled);
		wheel.close();
	}

	private static final class Watched implements Runnable {

		private final AtomicLong runs;

		private volatile int ran;

		private DelayedTask<?> task;

		Watched(AtomicLong runs) {
			this.runs = runs;
		}

		@Override
		public void run() {
			this.runs.incrementAndGet();
			this.ran = this.ran + 1;
		}

	}

}
