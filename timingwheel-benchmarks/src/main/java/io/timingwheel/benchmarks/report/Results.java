package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.Quantiles;

/** The figures of all rounds. */
final class Results {

	private final Map<Cell, List<Double>> values = new LinkedHashMap<>();

	void add(Measurement measurement, Contestant contestant, Map<String, Double> figures) {
		figures.forEach((column, value) -> this.values
			.computeIfAbsent(new Cell(measurement.id(), contestant.name(), column), (cell) -> new ArrayList<>())
			.add(value));
	}

	/** The median of the rounds, if there is any figure. */
	OptionalDouble median(Measurement measurement, Contestant contestant, Column column) {
		List<Double> rounds = this.values.getOrDefault(new Cell(measurement.id(), contestant.name(), column.key()),
				List.of());
		return rounds.isEmpty() ? OptionalDouble.empty()
				: OptionalDouble.of(Quantiles.median(rounds.stream().mapToDouble(Double::doubleValue).toArray()));
	}

	/** The best median of all but our own. */
	OptionalDouble best(Measurement measurement, Column column) {
		var peers = measurement.contestants()
			.stream()
			.filter((contestant) -> !contestant.isOurs())
			.map((contestant) -> median(measurement, contestant, column))
			.flatMapToDouble(OptionalDouble::stream);
		return column.moreIsBetter() ? peers.max() : peers.min();
	}

	boolean has(Measurement measurement) {
		return measurement.contestants().stream().anyMatch((contestant) -> has(measurement, contestant));
	}

	boolean has(Measurement measurement, Contestant contestant) {
		return measurement.columns().stream().anyMatch((column) -> median(measurement, contestant, column).isPresent());
	}

	/** Writes each figure of each round. */
	void writeTo(Path file) throws IOException {
		List<String> lines = new ArrayList<>();
		lines.add("measurement,contestant,column,round,value");
		this.values.forEach((cell, rounds) -> {
			for (int round = 0; round < rounds.size(); round++) {
				lines.add(String.join(",", cell.measurement, cell.contestant, cell.column, String.valueOf(round + 1),
						String.valueOf(rounds.get(round))));
			}
		});
		Files.write(file, lines);
	}

	private record Cell(String measurement, String contestant, String column) {
	}

}
