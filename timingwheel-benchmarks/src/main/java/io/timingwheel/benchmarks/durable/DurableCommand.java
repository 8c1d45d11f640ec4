package io.timingwheel.benchmarks.durable;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.ReportOptions;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Measures durable tasks and writes the report.
 */
@Command(name = "durable", mixinStandardHelpOptions = true, sortOptions = false,
		description = "Measures durable tasks beside peers on a server that it starts, and writes tables, figures and"
				+ " charts.",
		footer = "Measurements: executions (of 25,000 tasks), executions-100k, enqueue, lateness, steady-lateness (two nodes at a"
				+ " high rate), recurring, recurring-rate, user-schedules, head-of-line; on postgresql also idle, on redis also sharing. Peers that are written for Node.js take part"
				+ " where node and npm are there.")
public final class DurableCommand implements Callable<Integer> {

	private static final List<String> JVM = List.of("-Xms1g", "-Xmx1g", "-XX:+UseG1GC");

	@Mixin
	private ReportOptions options = new ReportOptions();

	@Option(names = "--store", required = true, description = "The server: ${COMPLETION-CANDIDATES}.")
	private Store store = Store.POSTGRESQL;

	@Option(names = "--peers", split = ",", paramLabel = "PEER",
			description = "What to compare: ${COMPLETION-CANDIDATES}. Default: all that use the server.")
	private List<DurablePeer> peers = List.of();

	@Option(names = "--warm-up", paramLabel = "TASKS",
			description = "How many tasks the nodes run before each measurement. Default: ${DEFAULT-VALUE}, which leaves"
					+ " work to the compiler of a JVM.",
			defaultValue = "10000")
	private int warmUp = 10_000;

	@Override
	public Integer call() throws Exception {
		Effort effort = Effort.of(this.options.isQuick() ? 15 : 60, 0, JVM);
		try (Server server = this.store.start()) {
			return this.options.report(this.store.name().toLowerCase(Locale.ROOT),
					new DurableMeasurements(this.store, server, effort, this.warmUp).all(), this::isChosen, effort);
		}
	}

	private boolean isChosen(Contestant contestant) {
		return this.peers.isEmpty() || this.peers.contains(contestant);
	}

}
