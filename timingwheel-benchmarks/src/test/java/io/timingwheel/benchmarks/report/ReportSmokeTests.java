package io.timingwheel.benchmarks.report;

import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import io.timingwheel.benchmarks.Contestant;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jmh.runner.options.TimeValue;

import static org.assertj.core.api.Assertions.assertThat;

/** Runs each measurement once, with very little work. The figures have no meaning. */
@Tag("faults")
class ReportSmokeTests {

	private static final Effort TINY = new Effort(0, 1, 1, TimeValue.milliseconds(20), 0.2, 1_000, List.of(10, 100),
			List.of("-Xmx256m", "-XX:TieredStopAtLevel=1"), 0);

	@TempDir
	Path directory;

	@Test
	void everyMeasurementGivesItsTableAndChart() throws Exception {
		List<Measurement> measurements = Measurements.all(TINY);
		Session session = new Session(measurements, Contestant::isOurs, 1, TINY, new PrintWriter(System.out));
		Results results = session.run();

		assertThat(session.failures()).isEmpty();
		for (Measurement measurement : measurements) {
			Contestant ours = measurement.contestants().iterator().next();
			assertThat(measurement.columns()).as(measurement.id())
				.allSatisfy(
						(column) -> assertThat(results.median(measurement, ours, column)).as(column.key()).isPresent());
			Path chart = this.directory.resolve(measurement.id() + ".svg");
			new ChartWriter(results).write(measurement, chart);
			assertThat(Files.readString(chart).contains("<svg")).as(measurement.id()).isTrue();
		}
		Path figures = this.directory.resolve("figures.csv");
		results.writeTo(figures);
		assertThat(Files.readAllLines(figures)).anyMatch((line) -> line.startsWith("churn,TIMINGWHEEL,1,1,"));
		assertThat(new MarkdownWriter(results, "").write(measurements, Machine.describe(TINY, 1)))
			.contains("### Lateness", "| **timingwheel** |");
	}

}
