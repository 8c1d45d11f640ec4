package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.peer.Peer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures and writes the report. */
@Command(name = "report", mixinStandardHelpOptions = true, sortOptions = false,
		description = "Measures all peers in turn, prints the tables and writes them with all figures and the charts.")
public final class ReportCommand implements Callable<Integer> {

	@Mixin
	private ReportOptions options = new ReportOptions();

	@Option(names = "--peers", split = ",", paramLabel = "PEER",
			description = "What to compare: ${COMPLETION-CANDIDATES}. Default: all that this JVM has. heartbeat,"
					+ " delayed-call and timeout-call always compare all their ways.")
	private List<Peer> peers = List.of();

	@Spec
	void listMeasurements(CommandSpec spec) {
		Map<String, String> titles = new LinkedHashMap<>();
		Measurements.all(Effort.FULL).forEach((measurement) -> titles.put(measurement.id(), measurement.title()));
		ReportOptions.listMeasurements(spec, titles);
	}

	@Override
	public Integer call() throws IOException, InterruptedException {
		Effort effort = this.options.isQuick() ? Effort.QUICK : Effort.FULL;
		List<Measurement> measurements = Measurements.all(effort);
		this.options.check(measurements, this::isChosen);
		return this.options.report("jdk-" + Runtime.version().feature(), measurements, this::isChosen, effort);
	}

	private boolean isChosen(Contestant contestant) {
		return this.peers.isEmpty() || !(contestant instanceof Peer peer) || this.peers.contains(peer);
	}

}
