package io.timingwheel.benchmarks.report;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Predicate;

import io.timingwheel.benchmarks.Contestant;

/**
 * Runs all steps in rounds. The contestants of a step run one after another, so a change
 * in the machine's speed affects all of them alike.
 */
final class Session {

	private final Effort effort;

	private final PrintWriter progress;

	private final List<Run> runs = new ArrayList<>();

	private final List<String> failures = new ArrayList<>();

	Session(List<Measurement> measurements, Predicate<Contestant> chosen, int rounds, Effort effort,
			PrintWriter progress) {
		this.effort = effort;
		this.progress = progress;
		for (int round = 1; round <= rounds; round++) {
			for (Measurement measurement : measurements) {
				for (Step step : measurement.steps()) {
					measurement.contestants()
						.stream()
						.filter((contestant) -> chosen.test(contestant) && step.suits(contestant)
								&& contestant.isAvailable())
						.forEach((contestant) -> this.runs.add(new Run(measurement, step, contestant)));
				}
			}
		}
	}

	Results run() throws InterruptedException {
		Results results = new Results();
		long start = System.nanoTime();
		for (int done = 0; done < this.runs.size(); done++) {
			Run run = this.runs.get(done);
			this.progress.printf("[%d/%d] %s: %s", done + 1, this.runs.size(), run.measurement.id(),
					run.contestant.label());
			this.progress.flush();
			try {
				Map<String, Double> figures = run.step.run(run.contestant, this.effort);
				results.add(run.measurement, run.contestant, figures);
				this.progress.printf(" %s%n", new TreeMap<>(figures));
			}
			catch (InterruptedException ex) {
				throw ex;
			}
			catch (Exception ex) {
				this.failures.add(run.measurement.id() + " of " + run.contestant.label() + ": " + ex.getMessage());
				this.progress.printf(" failed: %s%n", ex.getMessage());
			}
			int todo = this.runs.size() - done - 1;
			if (todo > 0) {
				long left = (System.nanoTime() - start) / (done + 1) * todo;
				this.progress.printf("        about %d min left%n", Duration.ofNanos(left).toMinutes() + 1);
			}
		}
		return results;
	}

	List<String> failures() {
		return this.failures;
	}

	private record Run(Measurement measurement, Step step, Contestant contestant) {
	}

}
