package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import redis.embedded.RedisServer;
import redis.embedded.core.RedisServerBuilder;

/**
 * A Redis of the tests' own, with an append-only file in a folder of its own unless the
 * settings say otherwise. It can be stopped and started again.
 */
public final class RedisProcess implements AutoCloseable {

	private final int port = freePort();

	private final List<String> settings;

	private final Path folder;

	private RedisServer server;

	private RedisProcess(String... settings) {
		try {
			this.settings = List.of(settings);
			this.folder = Files.createTempDirectory("timingwheel-redis");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		start();
	}

	/**
	 * Starts one that ends with the JVM at the latest.
	 */
	public static RedisProcess with(String... settings) {
		RedisProcess process = new RedisProcess(settings);
		Runtime.getRuntime().addShutdownHook(new Thread(process::close));
		return process;
	}

	public int port() {
		return this.port;
	}

	public void start() {
		try {
			RedisServerBuilder builder = RedisServer.newRedisServer()
				.bind("127.0.0.1")
				.port(this.port)
				.setting("dir " + this.folder)
				.setting("save \"\"")
				.setting("appendonly yes")
				.setting("appendfsync always");
			this.settings.forEach(builder::setting);
			this.server = builder.build();
			this.server.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * A port whose Cluster port, 10000 above, is in range too.
	 */
	private static int freePort() {
		while (true) {
			try (ServerSocket socket = new ServerSocket(0)) {
				if (socket.getLocalPort() < 55_000) {
					return socket.getLocalPort();
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
	}

}
