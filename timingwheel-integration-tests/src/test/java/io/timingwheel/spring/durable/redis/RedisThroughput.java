package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.IfPending;

import org.springframework.data.redis.connection.RedisConnection;

/**
 * Measures the store alone on a Redis of its own: how many tasks a second it stores, how
 * many it claims and acknowledges, and the memory of a task. The arguments are the number
 * of tasks, the number of partitions, and the number of tasks per claim.
 */
final class RedisThroughput {

	private static final String PAYLOAD = "x".repeat(100);

	private final RedisStores stores;

	private final RedisDelayedTaskStore store;

	private final int backlog;

	private final int perClaim;

	private RedisThroughput(RedisStores stores, int backlog, int partitions, int perClaim) {
		this.stores = stores;
		this.backlog = backlog;
		this.perClaim = perClaim;
		this.store = stores.node(RedisStoreOptions.DEFAULTS.withNamespace("speed").withPartitions(partitions));
		this.store.check();
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
					measurement.run(threads);
				}
			}
			measurement.memory(false);
			measurement.memory(true);
		}
	}

	private void run(int threads) throws Exception {
		int stored = this.backlog / (threads == 1 ? 5 : 1);
		double enqueued = rate(stored, threads, () -> enqueue(stored / threads, null, Duration.ZERO));
		for (int i = stored; i < this.backlog; i += 1000) {
			enqueue(1000, null, Duration.ZERO);
		}
		AtomicInteger left = new AtomicInteger(this.backlog);
		double cpu = info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys");
		double executed = rate(this.backlog, threads, () -> {
			while (left.get() > 0) {
				left.addAndGet(-execute(this.perClaim));
			}
		});
		cpu = info("cpu", "used_cpu_user") + info("cpu", "used_cpu_sys") - cpu;
		System.out.printf("%d thread(s): %,.0f enqueues/s, %,.0f executions/s (claimed by %d and acknowledged), each"
				+ " %.1f us of Redis%n", threads, enqueued, executed, this.perClaim, cpu * 1e6 / this.backlog);
	}

	private void enqueue(int count, String key, Duration delay) {
		for (int i = 0; i < count; i++) {
			this.store.enqueue(new NewTask(UUID.randomUUID().toString(), "close-order", (key != null) ? key + i : null,
					PAYLOAD, DueTime.after(delay), IfPending.REPLACE, null));
		}
	}

	private int execute(int limit) {
		List<LeasedTask> tasks = this.store
			.claim(new ClaimRequest("node", Set.of("close-order"), limit, Duration.ofSeconds(2), Duration.ofSeconds(30),
					Long.MAX_VALUE))
			.tasks();
		this.store.acknowledge(tasks.stream().map((task) -> new TaskRef(task.id(), task.fence())).toList());
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
