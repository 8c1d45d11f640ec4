package io.timingwheel.spring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * A PostgreSQL server with the durability settings of production. It can be stopped and
 * started again, and ends with the JVM at the latest.
 */
public final class Postgres implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private EmbeddedPostgres server;

	private Path folder;

	public Postgres() throws Exception {
		this.server = Ports.start((port) -> {
			this.folder = Files.createTempDirectory("timingwheel-postgres");
			return start(port);
		});
		Runtime.getRuntime().addShutdownHook(new Thread(this::delete));
	}

	private void delete() {
		try {
			close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		FileSystemUtils.deleteRecursively(this.folder.toFile());
	}

	public void restart() throws IOException {
		this.server = start(this.server.getPort());
	}

	/**
	 * Kills all processes of the server. What a commit has not taken to the disk is lost.
	 */
	public void kill() throws IOException {
		Path lock = this.folder.resolve("data").resolve("postmaster.pid");
		ProcessHandle postmaster = ProcessHandle.of(Long.parseLong(Files.readAllLines(lock).get(0).trim()))
			.orElseThrow();
		List<ProcessHandle> processes = Stream.concat(Stream.of(postmaster), postmaster.descendants()).toList();
		processes.forEach(ProcessHandle::destroyForcibly);
		processes.forEach((process) -> process.onExit().join());
		// Gives up the lock that this JVM has on the data.
		this.server.close();
	}

	private EmbeddedPostgres start(int port) throws IOException {
		return EmbeddedPostgres.builder()
			.setServerConfig("fsync", "on")
			.setServerConfig("synchronous_commit", "on")
			.setDataDirectory(this.folder.resolve("data"))
			.setCleanDataDirectory(false)
			.setRegisterShutdownHook(false)
			.setPort(port)
			.setPGStartupWait(PATIENCE)
			.start();
	}

	public String url() {
		return url("postgres");
	}

	private String url(String database) {
		return this.server.getJdbcUrl("postgres", database);
	}

	public String createDatabase(String name) {
		new JdbcTemplate(this.server.getPostgresDatabase()).execute("create database " + name);
		return url(name);
	}

	@Override
	public void close() throws IOException {
		this.server.close();
	}

}
