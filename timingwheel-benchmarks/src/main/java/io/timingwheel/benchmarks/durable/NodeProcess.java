package io.timingwheel.benchmarks.durable;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A node in another process. */
final class NodeProcess implements AutoCloseable {

	private final Process process;

	private final PrintStream commands;

	private final BufferedReader answers;

	NodeProcess(DurableSetup setup, DurablePeer peer) throws IOException {
		this.process = new ProcessBuilder(
				peer.command(setup.store(), setup.server().get().url(), setup.effort().jvmArgs()))
			.redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
		this.commands = new PrintStream(this.process.getOutputStream(), true, StandardCharsets.UTF_8);
		this.answers = this.process.inputReader(StandardCharsets.UTF_8);
	}

	/** Waits until the node has started. */
	void awaitStart() throws IOException {
		answer();
	}

	/** Sends a command to the node and waits for the answer. */
	Map<String, Double> run(String command) throws IOException {
		this.commands.println(command);
		return answer();
	}

	/** Sends a command to the node and waits for one figure of the answer. */
	double run(String command, String figure) throws IOException {
		return Objects.requireNonNull(run(command).get(figure), figure);
	}

	private Map<String, Double> answer() throws IOException {
		String line;
		while ((line = this.answers.readLine()) != null) {
			if (line.startsWith(NodeMain.ANSWER)) {
				return figures(line.substring(NodeMain.ANSWER.length()));
			}
		}
		throw new IOException("The node has ended. Its messages are above");
	}

	private static Map<String, Double> figures(String text) {
		Map<String, Double> figures = new LinkedHashMap<>();
		for (String figure : text.isEmpty() ? new String[0] : text.split(" ")) {
			String[] parts = figure.split("=");
			figures.put(parts[0], Double.valueOf(parts[1]));
		}
		return figures;
	}

	/** Ends the node, and kills it if it does not end. */
	@Override
	public void close() {
		this.commands.close();
		try {
			this.process.onExit().get(15, TimeUnit.SECONDS);
		}
		catch (TimeoutException ex) {
			this.process.destroyForcibly().onExit().join();
		}
		catch (InterruptedException ex) {
			this.process.destroyForcibly();
			Thread.currentThread().interrupt();
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
