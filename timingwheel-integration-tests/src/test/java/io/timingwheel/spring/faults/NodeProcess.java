package io.timingwheel.spring.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.Signals;

/** A node in a JVM of its own, until the test ends it. A file keeps its log. */
final class NodeProcess {

	/** The present build. */
	static final Program PRESENT = new Program(NodeApplication.class, System.getProperty("java.class.path"));

	/** For the start of a JVM, which may share two processors with many others. */
	private static final long PATIENCE_SECONDS = 180;

	private final String id;

	private final Path log;

	private final Process process;

	private final BufferedReader replies;

	private final PrintWriter commands;

	private boolean ready;

	NodeProcess(Program program, String id, List<String> properties) throws IOException {
		this.id = id;
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		// The standard output of a node has its replies only.
		command.addAll(List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xlog:disable",
				"-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote", "-cp", program.classPath(),
				program.application().getName(), "--timingwheel.store.node-id=" + id));
		properties.forEach((property) -> command.add("--" + property));
		Path logs = Files.createDirectories(Path.of("target", "nodes").toAbsolutePath());
		this.log = Files.createTempFile(logs, id + "-", ".log");
		this.process = new ProcessBuilder(command).redirectError(this.log.toFile()).start();
		this.replies = this.process.inputReader();
		this.commands = new PrintWriter(this.process.outputWriter(), true);
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

	/** Sends a command, and waits for its end. */
	void tell(String command) {
		this.commands.println(command);
		expect(NodeApplication.DONE);
	}

	/** Sends a command whose answer is a number. */
	long ask(String question) {
		this.commands.println(question);
		return Long.parseLong(reply());
	}

	private void expect(String expected) {
		String reply = reply();
		if (!reply.equals(expected)) {
			throw new IllegalStateException("Node %s says %s, not %s:%n%s".formatted(this.id, reply, expected, log()));
		}
	}

	private String reply() {
		return CompletableFuture.supplyAsync(() -> {
			try {
				return String.valueOf(this.replies.readLine());
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}).orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
	}

	/** Kills the process ({@code kill -9}), and waits until it is dead. */
	void kill() {
		this.process.destroyForcibly();
		awaitEnd();
	}

	/** Stops all threads of the process. */
	void stop() {
		Signals.send("STOP", this.process.pid());
	}

	void goOn() {
		Signals.send("CONT", this.process.pid());
	}

	/** Closes the node's context ({@code SIGTERM}), and does not wait for that. */
	void terminate() {
		this.process.toHandle().destroy();
	}

	void awaitEnd() {
		this.process.onExit().orTimeout(PATIENCE_SECONDS, TimeUnit.SECONDS).join();
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
