package io.timingwheel.benchmarks.durable;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.stream.Collectors;

import io.timingwheel.benchmarks.ProcessCpu;

/** A node in a JVM of its own, which reads commands and answers each with figures. */
final class NodeMain {

	/** Marks an answer among other output. */
	static final String ANSWER = "figures:";

	private final TaskNode node;

	private final Probe probe;

	private NodeMain(TaskNode node, Probe probe) {
		this.node = node;
		this.probe = probe;
	}

	/**
	 * Runs a node until there are no more commands.
	 * @param args the store, its address and the peer
	 */
	public static void main(String[] args) {
		int status = 0;
		try {
			answerCommands(args);
		}
		catch (Throwable ex) {
			// Spring Boot leaves the exception of a failed start to a logger, which the
			// nodes do not have.
			ex.printStackTrace();
			status = 1;
		}
		// The threads of some peers would keep the JVM alive.
		System.exit(status);
	}

	private static void answerCommands(String[] args) throws Exception {
		Probe probe = new Probe();
		try (TaskNode node = DurablePeer.valueOf(args[2]).start(Store.valueOf(args[0]), args[1], probe);
				BufferedReader commands = new BufferedReader(
						new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
			NodeMain main = new NodeMain(node, probe);
			System.out.println(ANSWER);
			String command;
			while ((command = commands.readLine()) != null) {
				System.out.println(ANSWER + main.run(command.split(" "))
					.entrySet()
					.stream()
					.map((figure) -> figure.getKey() + "=" + figure.getValue())
					.collect(Collectors.joining(" ")));
			}
		}
	}

	private Map<String, Double> run(String[] command) throws Exception {
		switch (command[0]) {
			case "pause" -> this.node.pause();
			case "resume" -> this.node.resume();
			case "reset" -> this.probe.reset();
			case "cpu" -> {
				return Map.of("nanos", (double) ProcessCpu.nanos());
			}
			case "count" -> {
				return Map.of("count", (double) this.probe.count());
			}
			case "figures" -> {
				return this.probe.figures();
			}
			case "fill" -> {
				Instant due = Instant.now().truncatedTo(ChronoUnit.MILLIS).plusSeconds(Long.parseLong(command[2]));
				new Load(this.node).fill(Integer.parseInt(command[1]), due);
				return Map.of("left", (double) Instant.now().until(due, ChronoUnit.MILLIS));
			}
			case "enqueue" -> {
				return Map.of("rate", new Load(this.node).rate(Integer.parseInt(command[1]),
						Integer.parseInt(command[2]), Double.parseDouble(command[3])));
			}
			case "fill-now" -> new Load(this.node).fillNow(Integer.parseInt(command[1]));
			case "load" -> {
				long start = System.nanoTime();
				int rate = Integer.parseInt(command[1]);
				double seconds = Double.parseDouble(command[2]);
				double count = (command.length > 3)
						? new Load(this.node).steady(rate, seconds, Integer.parseInt(command[3]), 0)
						: new Load(this.node).steady(rate, seconds);
				return Map.of("count", count, "rate", count * 1e9 / (System.nanoTime() - start));
			}
			case "recur" -> new Load(this.node).recur(Integer.parseInt(command[1]), Double.parseDouble(command[2]),
					Double.parseDouble(command[3]));
			case "schedules" -> {
				return Map.of("rate",
						new Load(this.node).recur(Integer.parseInt(command[1]), Double.parseDouble(command[2])));
			}
			case "cancel" -> {
				return Map.of("rate", new Load(this.node).cancel(Integer.parseInt(command[1])));
			}
			case "fill-pending" -> new Load(this.node).fillPending(Integer.parseInt(command[1]));
			case "fill-limited" -> new Load(this.node).fillLimited(Integer.parseInt(command[1]));
			default -> throw new IllegalArgumentException("Unknown command " + command[0]);
		}
		return Map.of();
	}

}
