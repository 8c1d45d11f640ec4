package io.timingwheel.spring.faults;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.Signals;

/**
 * A node in a JVM of its own, until the test ends it. A file keeps its log.
 */
final class NodeProcess {

	static final String DONE = "DONE";

	/** The present build. */
	static final Program PRESENT = new Program(NodeApplication.class, System.getProperty("java.class.path"));

	/** For the start of a JVM, which may share two processors with many others. */
	private static final long PATIENCE_SECONDS = 180;

	private final String id;

	private final Path log;

	private final Process process;

	private final BlockingQueue<String> replies = new LinkedBlockingQueue<>();

	private final BufferedWriter commands;

	private boolean ready;

	NodeProcess(Program program, String id, List<String> jvmOptions, List<String> properties) {
		this.id = id;
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		// The standard output of a node has its replies only.
		command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable",
				"-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote", "-cp", program.classPath()));
		command.addAll(jvmOptions);
		command.add(program.application().getName());
		command.add("--timingwheel.store.node-id=" + id);
		properties.forEach((property) -> command.add("--" + property));
		try {
			this.log = temporary(id, ".log");
			this.process = new ProcessBuilder(command).redirectError(this.log.toFile()).start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		this.commands = this.process.outputWriter();
		Thread reader = new Thread(() -> this.process.inputReader().lines().forEach(this.replies::add));
		reader.setDaemon(true);
		// The pipe of a process that dies breaks.
		reader.setUncaughtExceptionHandler((thread, error) -> this.replies.add(error.toString()));
		reader.start();
	}

	/**
	 * Creates a file beside the logs of the nodes.
	 */
	static Path temporary(String prefix, String suffix) throws IOException {
		return Files.createTempFile(Files.createDirectories(Path.of("target", "nodes").toAbsolutePath()), prefix + "-",
				suffix);
	}

	String id() {
		return this.id;
	}

	NodeProcess awaitReady() {
		if (!this.ready) {
			expect(NodeApplication.READY);
			this.ready = true;
		}
		return this;
	}

	/**
	 * Sends a command, and waits for its end.
	 */
	void tell(String command) {
		send(command);
		expect(DONE);
	}

	/**
	 * Sends a command whose answer is a number.
	 */
	long ask(String question) {
		send(question);
		return Long.parseLong(reply());
	}

	private void send(String line) {
		try {
			this.commands.write(line + "\n");
			this.commands.flush();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void expect(String expected) {
		String reply = reply();
		if (!reply.equals(expected)) {
			throw new IllegalStateException("Node %s says %s, not %s".formatted(this.id, reply, expected));
		}
	}

	private String reply() {
		try {
			for (int i = 0; i < PATIENCE_SECONDS; i++) {
				String reply = this.replies.poll(1, TimeUnit.SECONDS);
				if (reply != null) {
					return reply;
				}
				if (!this.process.isAlive()) {
					break;
				}
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new IllegalStateException("No reply of node %s:%n%s".formatted(this.id, log()));
	}

	/**
	 * Kills the process ({@code kill -9}), and waits until it is dead.
	 */
	void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	/**
	 * Stops all threads of the process.
	 */
	void stop() {
		Signals.send("STOP", this.process.pid());
	}

	void goOn() {
		Signals.send("CONT", this.process.pid());
	}

	/**
	 * Closes the node's context ({@code SIGTERM}), and does not wait for that.
	 */
	void terminate() {
		this.process.toHandle().destroy();
	}

	void awaitEnd() {
		try {
			if (!this.process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
				throw new IllegalStateException("Node %s does not end:%n%s".formatted(this.id, log()));
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	String log() {
		try {
			return Files.readString(this.log);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	long logged(String text) {
		return log().lines().filter((line) -> line.contains(text)).count();
	}

	record Program(Class<?> application, String classPath) {

	}

}
