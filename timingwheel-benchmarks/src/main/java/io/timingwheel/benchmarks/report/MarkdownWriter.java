package io.timingwheel.benchmarks.report;

import java.util.List;
import java.util.Locale;
import java.util.OptionalDouble;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.benchmarks.Contestant;

/**
 * Writes the tables. Each figure is followed by its ratio to the figure of the best peer.
 */
final class MarkdownWriter {

	private final Results results;

	private final String charts;

	/**
	 * Creates a writer.
	 * @param results the figures
	 * @param charts how the links to charts begin
	 */
	MarkdownWriter(Results results, String charts) {
		this.results = results;
		this.charts = charts;
	}

	String write(List<Measurement> measurements, String machine) {
		return Stream.concat(Stream.of(machine), measurements.stream().map(this::section))
			.collect(Collectors.joining("\n"));
	}

	private String section(Measurement measurement) {
		return """
				### %1$s

				%2$s

				%3$s
				![%1$s](%4$s%5$s.svg)
				""".formatted(measurement.title(), measurement.text(), table(measurement), this.charts,
				measurement.id());
	}

	String table(Measurement measurement) {
		List<Column> columns = measurement.columns();
		StringBuilder table = new StringBuilder();
		row(table, Stream.concat(Stream.of(""), columns.stream().map(Column::title)));
		row(table, Stream.concat(Stream.of("---"), columns.stream().map((column) -> "---:")));
		for (Contestant contestant : measurement.contestants()) {
			if (this.results.has(measurement, contestant)) {
				row(table, Stream.concat(Stream.of(contestant.isOurs() ? bold(contestant.label()) : contestant.label()),
						columns.stream().map((column) -> cell(measurement, contestant, column))));
			}
		}
		return table.toString();
	}

	private static void row(StringBuilder table, Stream<String> cells) {
		table.append(cells.collect(Collectors.joining(" | ", "| ", " |\n")));
	}

	private String cell(Measurement measurement, Contestant contestant, Column column) {
		OptionalDouble value = this.results.median(measurement, contestant, column);
		if (value.isEmpty()) {
			return "-";
		}
		String text = column.format(value.getAsDouble());
		OptionalDouble best = this.results.best(measurement, column);
		boolean comparable = best.isPresent()
				&& Double.parseDouble(column.format(best.getAsDouble()).replace(",", "")) > 0;
		return comparable ? text + " (" + ratio(value.getAsDouble() / best.getAsDouble()) + ")" : text;
	}

	private static String ratio(double ratio) {
		return String.format(Locale.ROOT, (ratio < 10) ? "%.2fx" : "%,.0fx", ratio);
	}

	private static String bold(String text) {
		return "**" + text + "**";
	}

}
