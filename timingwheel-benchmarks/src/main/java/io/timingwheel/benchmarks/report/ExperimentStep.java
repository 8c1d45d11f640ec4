package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.JavaCommand;
import io.timingwheel.benchmarks.experiment.Experiment;
import io.timingwheel.benchmarks.peer.Peer;

/**
 * Runs an experiment.
 *
 * @param experiment which
 * @param count how many timers
 * @param columns the columns' keys by the names of the figures
 */
record ExperimentStep(Experiment experiment, int count, Map<String, String> columns) implements Step {

	@Override
	public boolean suits(Contestant contestant) {
		return !(contestant instanceof Peer peer) || peer.isThreadSafe() || this.experiment == Experiment.FOOTPRINT;
	}

	@Override
	public Map<String, Double> run(Contestant contestant, Effort effort) throws IOException, InterruptedException {
		List<String> command = JavaCommand.of(effort.jvmArgs(), Experiment.class, this.experiment.name(),
				contestant.name(), String.valueOf(this.count), String.valueOf(effort.seconds()));
		Path output = Files.createTempFile("experiment", ".txt");
		try {
			int status = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(output.toFile())
				.start()
				.waitFor();
			String text = Files.readString(output);
			if (status != 0) {
				throw new IllegalStateException("The JVM has ended with status " + status + ":\n" + text);
			}
			return figures(text);
		}
		finally {
			Files.delete(output);
		}
	}

	private Map<String, Double> figures(String text) {
		Map<String, Double> figures = new HashMap<>();
		text.lines().forEach((line) -> {
			String[] figure = line.split("=");
			String column = this.columns.get(figure[0]);
			if (column != null) {
				figures.put(column, Double.valueOf(figure[1]));
			}
		});
		if (!figures.keySet().containsAll(this.columns.values())) {
			throw new IllegalStateException("Figures are missing: " + text);
		}
		return figures;
	}

}
