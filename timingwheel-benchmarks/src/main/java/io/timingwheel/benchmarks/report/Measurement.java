package io.timingwheel.benchmarks.report;

import java.util.Collection;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.benchmarks.Contestant;

/**
 * A table and its chart.
 *
 * @param id its name on the command line
 * @param title the heading
 * @param text how it is measured
 * @param contestants the lines
 * @param columns the columns
 * @param steps what gives the figures
 * @param chart the chart
 */
public record Measurement(String id, String title, String text, Collection<? extends Contestant> contestants,
		List<Column> columns, List<Step> steps, Chart chart) {

	/** The same measurement, with more to its text. */
	public Measurement withRemark(String remark) {
		return new Measurement(this.id, this.title, this.text + remark, this.contestants, this.columns, this.steps,
				this.chart);
	}

	/** Whether any chosen contestant can give figures on this machine. */
	boolean hasAny(Predicate<Contestant> chosen) {
		return this.contestants.stream()
			.anyMatch((contestant) -> chosen.test(contestant) && suits(contestant) && contestant.isAvailable());
	}

	/** The names of all contestants that can give figures on this machine. */
	String participants() {
		return this.contestants.stream()
			.filter((contestant) -> suits(contestant) && contestant.isAvailable())
			.map(Contestant::name)
			.collect(Collectors.joining(", "));
	}

	/**
	 * The names of the chosen contestants that can give figures only on other machines.
	 */
	Stream<String> unavailable(Predicate<Contestant> chosen) {
		return this.contestants.stream()
			.filter((contestant) -> chosen.test(contestant) && suits(contestant) && !contestant.isAvailable())
			.map(Contestant::name);
	}

	private boolean suits(Contestant contestant) {
		return this.steps.stream().anyMatch((step) -> step.suits(contestant));
	}

	Column column(String key) {
		return this.columns.stream().filter((column) -> column.key().equals(key)).findFirst().orElseThrow();
	}

	/**
	 * The chart of some columns that have one unit.
	 *
	 * @param kind how to draw it
	 * @param axis the title of the values' axis
	 * @param columns the keys of the columns to draw
	 */
	public record Chart(Kind kind, String axis, List<String> columns) {

		/** How to draw a chart. */
		public enum Kind {

			/** A bar for each contestant and column. */
			BARS,

			/** The same on a logarithmic scale. */
			LOGARITHMIC_BARS,

			/** A line for each contestant over columns whose keys are numbers. */
			LINES

		}

	}

}
