package io.timingwheel.spring.durable.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.Ports;
import io.timingwheel.spring.Signals;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import redis.embedded.RedisServer;
import redis.embedded.core.ExecutableProvider;
import redis.embedded.core.RedisServerBuilder;

import org.springframework.util.FileSystemUtils;

/**
 * A Redis server for tests, with an append-only file in a folder of its own unless the
 * settings say otherwise. It can be stopped and started again. As an extension, this
 * class stops the server after the tests of a class.
 */
public final class RedisProcess implements AutoCloseable, AfterAllCallback {

	private static final Duration GRACE = Duration.ofSeconds(5);

	private static File executable;

	private final List<String> settings;

	private int port;

	private Path folder;

	private RedisServer server;

	private ProcessHandle process;

	private RedisProcess(String... settings) {
		this.settings = List.of(settings);
		try {
			Ports.start((port) -> {
				this.port = port;
				this.folder = Files.createTempDirectory("timingwheel-redis");
				start();
				return this;
			});
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	public static RedisProcess with(String... settings) {
		RedisProcess process = new RedisProcess(settings);
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			process.kill();
			FileSystemUtils.deleteRecursively(process.folder.toFile());
		}));
		return process;
	}

	public int port() {
		return this.port;
	}

	public void start() {
		Path pidFile = this.folder.resolve("redis.pid");
		try {
			RedisServerBuilder builder = RedisServer.newRedisServer()
				.executableProvider(RedisProcess::executable)
				.bind("127.0.0.1")
				.port(this.port)
				.setting("dir " + this.folder)
				.setting("pidfile " + pidFile)
				.setting("save \"\"")
				.setting("appendonly yes")
				.setting("appendfsync always");
			this.settings.forEach(builder::setting);
			this.server = builder.build();
			this.server.start();
			this.process = ProcessHandle.of(Long.parseLong(Files.readString(pidFile).trim())).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public void kill() {
		this.process.destroyForcibly();
		this.process.onExit().join();
		close();
	}

	/**
	 * Stops the process ({@code SIGSTOP}). It keeps its connections and answers nothing.
	 */
	public void hang() {
		Signals.send("STOP", this.process.pid());
	}

	public void goOn() {
		Signals.send("CONT", this.process.pid());
	}

	@Override
	public void afterAll(ExtensionContext context) {
		kill();
	}

	/**
	 * Shuts the server down. While Redis writes its first append-only file, it refuses to
	 * shut down. This method then kills it.
	 */
	@Override
	public void close() {
		this.process.destroy();
		this.process.onExit()
			.completeOnTimeout(null, GRACE.toMillis(), TimeUnit.MILLISECONDS)
			.thenAccept((exited) -> this.process.destroyForcibly())
			.join();
		try {
			this.server.stop();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the path of the program: another one than that of the dependency if the
	 * system property {@code redis.executable} names it. All servers of this JVM use the
	 * same program.
	 */
	private static synchronized File executable() throws IOException {
		if (executable == null) {
			String other = System.getProperty("redis.executable");
			executable = (other != null) ? new File(other) : ExecutableProvider.newJarResourceProvider().get();
		}
		return executable;
	}

}
