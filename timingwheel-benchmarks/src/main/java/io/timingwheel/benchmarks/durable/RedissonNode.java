package io.timingwheel.benchmarks.durable;

import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.redisson.Redisson;
import org.redisson.RedissonShutdownException;
import org.redisson.api.RBlockingQueue;
import org.redisson.api.RDelayedQueue;
import org.redisson.api.RFuture;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;
import org.redisson.config.Config;

/**
 * A delayed queue of Redisson, and threads that take tasks from its blocking queue. A
 * task that a thread has taken is in this JVM only. There is no acknowledgement, so a
 * crash loses the task. {@link RDelayedQueue} is deprecated, but only the paid edition
 * implements its successor.
 */
@SuppressWarnings("deprecation")
final class RedissonNode implements TaskNode {

	private static final int THREADS = 8;

	private final RedissonClient client;

	private final RDelayedQueue<String> delayed;

	RedissonNode(String url, Probe probe) {
		Config config = new Config();
		config.useSingleServer().setAddress(url);
		this.client = Redisson.create(config);
		RBlockingQueue<String> queue = this.client.getBlockingQueue("probe", StringCodec.INSTANCE);
		this.delayed = this.client.getDelayedQueue(queue);
		for (int i = 0; i < THREADS; i++) {
			Thread thread = new Thread(() -> consume(queue, probe));
			thread.setDaemon(true);
			thread.start();
		}
	}

	private static void consume(RBlockingQueue<String> queue, Probe probe) {
		try {
			while (true) {
				probe.run(Instant.ofEpochMilli(Long.parseLong(queue.take())));
			}
		}
		catch (InterruptedException | RedissonShutdownException ex) {
			// The node ends.
		}
	}

	@Override
	public void enqueue(Instant due) {
		offer(due).toCompletableFuture().join();
	}

	private RFuture<Void> offer(Instant due) {
		long delay = Math.max(0, due.toEpochMilli() - System.currentTimeMillis());
		return this.delayed.offerAsync(String.valueOf(due.toEpochMilli()), delay, TimeUnit.MILLISECONDS);
	}

	@Override
	public void enqueueBatch(int count, Instant due) {
		CompletableFuture
			.allOf(Stream.generate(() -> offer(due).toCompletableFuture())
				.limit(count)
				.toArray(CompletableFuture<?>[]::new))
			.join();
	}

	@Override
	public void pause() {
	}

	@Override
	public void resume() {
	}

	@Override
	public void close() {
		this.client.shutdown();
	}

}
