package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.timingwheel.benchmarks.Contestant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The options of a command that measures and writes a report. */
public final class ReportOptions {

	@Spec(Spec.Target.MIXEE)
	@SuppressWarnings("NullAway.Init")
	private CommandSpec spec;

	@Option(names = "--quick", description = "One short round: half an hour or more, rough figures.")
	private boolean quick;

	@Option(names = "--rounds", paramLabel = "ROUNDS",
			description = "How often to measure everything. Default: 3, with --quick 1.")
	private @Nullable Integer rounds;

	@Option(names = "--measurements", split = ",", paramLabel = "NAME",
			description = "What to measure, by the names below. Default: all.")
	private List<String> measurements = List.of();

	@Option(names = "--output", paramLabel = "DIRECTORY",
			description = "Where to write the report. Default: ${DEFAULT-VALUE}.", defaultValue = "target/performance")
	private Path output = Path.of("target/performance");

	/**
	 * Ends the help of a command with the measurements.
	 * @param spec the command
	 * @param titles the titles of the measurements by their names on the command line
	 */
	public static void listMeasurements(CommandSpec spec, Map<String, String> titles) {
		int width = titles.keySet().stream().mapToInt(String::length).max().orElse(0);
		Stream<String> lines = titles.entrySet()
			.stream()
			.map((title) -> ("  %-" + width + "s  %s").formatted(title.getKey(), title.getValue()));
		spec.usageMessage().footer(Stream.concat(Stream.of("Measurements:"), lines).toArray(String[]::new));
	}

	/** Whether a short round is wanted. */
	public boolean isQuick() {
		return this.quick;
	}

	/**
	 * Checks all options, so that a mistake is found before anything starts.
	 * @param all what can be measured
	 * @param chosen the contestants that take part
	 * @throws ParameterException if an option is wrong, or if no contestant takes part in
	 * a measurement
	 */
	public void check(List<Measurement> all, Predicate<Contestant> chosen) {
		if (this.rounds != null && this.rounds < 1) {
			throw wrong("--rounds must be at least 1");
		}
		List<Measurement> wanted = choose(all);
		List<Measurement> empty = wanted.stream().filter((measurement) -> !measurement.hasAny(chosen)).toList();
		if (this.measurements.isEmpty() && empty.size() == wanted.size()) {
			throw wrong("None of the chosen peers takes part in any measurement here%s. Change --peers"
				.formatted(unavailable(empty, chosen)));
		}
		if (!this.measurements.isEmpty() && !empty.isEmpty()) {
			Measurement first = empty.get(0);
			throw wrong(
					"None of the chosen peers takes part in %s here%s. Change --measurements, or --peers: this measurement compares %s"
						.formatted(first.id(), unavailable(List.of(first), chosen), first.participants()));
		}
		try {
			Files.createDirectories(this.output);
		}
		catch (IOException ex) {
			throw wrong("--output " + this.output + " is no directory and cannot become one (" + ex + ")");
		}
	}

	private static String unavailable(List<Measurement> measurements, Predicate<Contestant> chosen) {
		List<String> names = measurements.stream()
			.flatMap((measurement) -> measurement.unavailable(chosen))
			.distinct()
			.toList();
		return names.isEmpty() ? "" : " (not available on this machine: " + String.join(", ", names) + ")";
	}

	private ParameterException wrong(String message) {
		return new ParameterException(this.spec.commandLine(), message);
	}

	/**
	 * Measures, prints the tables and writes them with all figures and the charts, after
	 * {@link #check}.
	 * @param name how the names of the files begin
	 * @param all what can be measured
	 * @param chosen the contestants that take part
	 * @param effort how much time to spend
	 * @return the status to end with
	 * @throws IOException if the report cannot be written
	 * @throws InterruptedException if the thread is interrupted
	 */
	public int report(String name, List<Measurement> all, Predicate<Contestant> chosen, Effort effort)
			throws IOException, InterruptedException {
		int rounds = (this.rounds != null) ? this.rounds : this.quick ? 1 : 3;
		PrintWriter out = this.spec.commandLine().getOut();
		Session session = new Session(choose(all), chosen, rounds, effort, this.spec.commandLine().getErr());
		Results results = session.run();
		List<Measurement> measured = choose(all).stream().filter(results::has).toList();

		results.writeTo(this.output.resolve(name + ".csv"));
		String charts = name + "-";
		String report = new MarkdownWriter(results, charts).write(measured, Machine.describe(effort, rounds));
		Files.writeString(this.output.resolve(name + ".md"), report);
		for (Measurement measurement : measured) {
			new ChartWriter(results).write(measurement, this.output.resolve(charts + measurement.id() + ".svg"));
		}
		out.println(report);
		session.failures().forEach((failure) -> out.println("FAILED " + failure));
		out.flush();
		return session.failures().isEmpty() ? 0 : 1;
	}

	private List<Measurement> choose(List<Measurement> all) {
		if (this.measurements.isEmpty()) {
			return all;
		}
		return this.measurements.stream().map((name) -> named(name, all)).distinct().toList();
	}

	private Measurement named(String name, List<Measurement> all) {
		return all.stream()
			.filter((measurement) -> measurement.id().equals(name.toLowerCase(Locale.ROOT)))
			.findFirst()
			.orElseThrow(() -> wrong("There is no measurement '" + name + "' here, only "
					+ String.join(", ", all.stream().map(Measurement::id).toList())));
	}

}
