package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import redis.embedded.RedisServer;

import org.springframework.util.FileSystemUtils;

/** A Redis with an append-only file. */
final class RedisInstance implements Server {

	private final Path folder = Files.createTempDirectory("redis");

	private final String url;

	private final RedisServer server;

	private final RedisClient client;

	private final StatefulRedisConnection<String, String> connection;

	RedisInstance() throws IOException {
		this.server = Ports.start((port) -> start(port, this.folder));
		this.url = "redis://127.0.0.1:" + this.server.ports().get(0);
		this.client = RedisClient.create(this.url);
		this.connection = this.client.connect();
	}

	private static RedisServer start(int port, Path folder) throws IOException {
		RedisServer server = RedisServer.newRedisServer()
			.bind("127.0.0.1")
			.port(port)
			.setting("dir " + folder)
			.setting("save \"\"")
			.setting("appendonly yes")
			.setting("appendfsync everysec")
			.build();
		server.start();
		return server;
	}

	@Override
	public String url() {
		return this.url;
	}

	@Override
	public void clear() {
		this.connection.sync().flushall();
	}

	@Override
	public void addPending(int count, NodeProcess node) throws IOException {
		node.run("fill-pending " + count);
	}

	@Override
	public Map<String, Double> megabytes() {
		return Map.of("memory", sum("memory", "used_memory:") / 1e6);
	}

	@Override
	public long statements() {
		return (long) sum("stats", "total_commands_processed");
	}

	@Override
	public long cpuNanos() {
		return (long) (1e9 * sum("cpu", "used_cpu_"));
	}

	/** Adds up the figures of a section whose names begin in a certain way. */
	private double sum(String section, String prefix) {
		return this.connection.sync()
			.info(section)
			.lines()
			.filter((line) -> line.startsWith(prefix) && !line.contains("main_thread"))
			.mapToDouble((line) -> Double.parseDouble(line.substring(line.indexOf(':') + 1)))
			.sum();
	}

	@Override
	public void close() throws IOException {
		this.client.shutdown();
		this.server.stop();
		FileSystemUtils.deleteRecursively(this.folder);
	}

}
