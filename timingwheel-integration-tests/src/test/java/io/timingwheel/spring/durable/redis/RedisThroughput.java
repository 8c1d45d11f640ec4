package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StartLimits;
import io.timingwheel.spring.task.IfPending;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Measures the store alone on a Redis of its own: how many tasks a second it stores, how
 * many it claims and acknowledges, with and without limits that never bind, and the
 * memory of a task. The arguments are the number of tasks, the number of partitions, and
 * the number of tasks per claim.
 */
final class RedisThroughput {

	private static final String NAME = "close-order";

	private static final String PAYLOAD = "x".repeat(100);

	private final RedisStores stores;

	private final RedisDelayedTaskStore store;

	private final int backlog;

	private final int perClaim;

	private RedisThroughput(RedisStores stores, int backlog, int partitions, int perClaim) {
		this.stores = stores;
		this.backlog = backlog;
		this.perClaim = perClaim;
		RedisStoreOptions defaults = RedisStoreOptions.DEFAULTS;
		this.store = stores
			.node(new RedisStoreOptions("speed", partitions, 0, defaults.waitTimeout(), defaults.maxDead()));
		this.store.check(List.of(NAME));
	}

	public static void main(String[] arguments) throws Exception {
		int backlog = (arguments.length > 0) ? Integer.parseInt(arguments[0]) : 100_000;
		int partitions = (arguments.length > 1) ? Integer.parseInt(arguments[1]) : 16;
		int perClaim = (arguments.length > 2) ? Integer.parseInt(arguments[2]) : 100;
		try (RedisProcess server = RedisProcess.with("appendfsync everysec");
				RedisStores stores = RedisStores.on(server)) {
			RedisThroughput measurement = new RedisThroughput(stores, backlog, partitions, perClaim);
			for (int round = 0; round < 3; round++) {
				for (int threads : new int[] { 1, 2, 8 }) {
					measurement.run(threads, new Share(perClaim, perClaim));
				}
				measurement.run(2, new Share(perClaim, 0, new StartLimits(1_000_000, 0, 0, 1), null));
			}
			measurement.memory(false);
			measurement.memory(true);
		}
	}

	private void run(int threads, Share share) throws Exception {
		int stored = this.backlog / (threads == 1 ? 5 : 1);
		double enqueued = rate(stored, threads, () -> enqueue(stored / threads, null, Duration.ZERO));
		for (int i = stored; i < this.backlog; i += 1000) {
			enqueue(1000, null, Duration.ZERO);
		}
		AtomicInteger left = new AtomicInteger(this.backlog);
		double cpu = info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys");
		double executed = rate(this.backlog, threads, () -> {
			while (left.get() > 0) {
				left.addAndGet(-execute(share));
			}
		});
		cpu = info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys") - cpu;
		System.out.printf(
				"%d thread(s)%s: %,.0f enqueues/s, %,.0f executions/s (claimed by %d and acknowledged), each"
						+ " %.1f us of Redis%n",
				threads, (share.limits() != null) ? ", limited" : "", enqueued, executed, this.perClaim,
				cpu * 1e6 / this.backlog);
	}

	private void enqueue(int count, @Nullable String key, Duration delay) {
		for (int i = 0; i < count; i++) {
			this.store.enqueue(List.of(new NewTask(UUID.randomUUID().toString(), NAME, (key != null) ? key + i : null,
					PAYLOAD, null, DueTime.after(delay), IfPending.REPLACE, null)));
		}
	}

	private int execute(Share share) {
		List<LeasedTask> tasks = this.store
			.claim(new ClaimRequest("node", java.util.Map.of(NAME, share), this.perClaim, false, Duration.ofSeconds(2),
					Duration.ofSeconds(30), Long.MAX_VALUE))
			.tasks();
		this.store.settle(tasks.stream().<Settlement>map((task) -> new Settlement.Acknowledge(task.ref())).toList());
		return tasks.size();
	}

	private static double rate(int count, int threads, Runnable work) throws Exception {
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		long start = System.nanoTime();
		List<Future<?>> futures = new ArrayList<>();
		for (int i = 0; i < threads; i++) {
			futures.add(executor.submit(work));
		}
		for (Future<?> future : futures) {
			future.get();
		}
		executor.shutdown();
		return count / ((System.nanoTime() - start) / 1e9);
	}

	private void memory(boolean keyed) {
		this.stores.connection().serverCommands().flushAll();
		double before = info("memory", "used_memory");
		enqueue(this.backlog, keyed ? "order-" : null, Duration.ofHours(1));
		System.out.printf("%s: %.0f bytes per task with a payload of %d bytes%n", keyed ? "with key" : "without key",
				(info("memory", "used_memory") - before) / this.backlog, PAYLOAD.length());
	}

	private double info(String section, String field) {
		try (RedisConnection connection = this.stores.connection()) {
			return Double.parseDouble(connection.serverCommands().info(section).getProperty(field));
		}
	}

}
