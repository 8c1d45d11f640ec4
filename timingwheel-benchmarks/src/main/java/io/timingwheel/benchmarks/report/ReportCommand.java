package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.peer.Peer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * Measures and writes the report.
 */
@Command(name = "report", mixinStandardHelpOptions = true, sortOptions = false,
		description = "Measures all peers in turn, prints the tables and writes them with all figures and the charts.")
public final class ReportCommand implements Callable<Integer> {

	@Spec
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Option(names = "--quick", description = "One short round: some ten minutes, rough figures.")
	private boolean quick;

	@Option(names = "--rounds", description = "How often to measure everything. Default: 3, with --quick 1.")
	private int rounds;

	@Option(names = "--measurements", split = ",", paramLabel = "NAME",
			description = "What to measure. Default: all of schedule, churn, reset, heartbeat, churn-by-depth,"
					+ " reset-by-depth, footprint, lateness, idle, burst, delayed-call, timeout-call.")
	private List<String> measurements = List.of();

	@Option(names = "--peers", split = ",", paramLabel = "PEER",
			description = "What to compare: ${COMPLETION-CANDIDATES}. Default: all that this JVM has.")
	private List<Peer> peers = List.of();

	@Option(names = "--output", paramLabel = "DIRECTORY",
			description = "Where to write the report. Default: ${DEFAULT-VALUE}.", defaultValue = "target/performance")
	private Path output = Path.of("target/performance");

	@Override
	public Integer call() throws IOException, InterruptedException {
		Effort effort = this.quick ? Effort.QUICK : Effort.FULL;
		int rounds = (this.rounds > 0) ? this.rounds : this.quick ? 1 : 3;
		List<Measurement> chosen = chosenMeasurements(effort);
		PrintWriter out = this.spec.commandLine().getOut();
		Session session = new Session(chosen, this::isChosen, rounds, effort, this.spec.commandLine().getErr());
		Results results = session.run();

		String jdk = "jdk-" + Runtime.version().feature();
		Files.createDirectories(this.output);
		results.writeTo(this.output.resolve(jdk + ".csv"));
		String charts = jdk + "-";
		String report = new MarkdownWriter(results, charts).write(chosen, Machine.describe(effort, rounds));
		Files.writeString(this.output.resolve(jdk + ".md"), report);
		for (Measurement measurement : chosen) {
			new ChartWriter(results).write(measurement, this.output.resolve(charts + measurement.id() + ".svg"));
		}
		out.println(report);
		session.failures().forEach((failure) -> out.println("FAILED " + failure));
		out.flush();
		return session.failures().isEmpty() ? 0 : 1;
	}

	private List<Measurement> chosenMeasurements(Effort effort) {
		List<Measurement> all = Measurements.all(effort);
		if (this.measurements.isEmpty()) {
			return all;
		}
		List<Measurement> chosen = new ArrayList<>();
		for (String name : this.measurements) {
			chosen.add(all.stream()
				.filter((measurement) -> measurement.id().equals(name.toLowerCase(Locale.ROOT)))
				.findFirst()
				.orElseThrow(() -> new ParameterException(this.spec.commandLine(),
						"There is no measurement '" + name + "', only " + all.stream().map(Measurement::id).toList())));
		}
		return chosen;
	}

	private boolean isChosen(Contestant contestant) {
		return this.peers.isEmpty() || !(contestant instanceof Peer peer) || this.peers.contains(peer);
	}

}
