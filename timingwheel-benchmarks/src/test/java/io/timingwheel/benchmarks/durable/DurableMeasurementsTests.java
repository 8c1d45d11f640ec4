package io.timingwheel.benchmarks.durable;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.benchmarks.report.Column;
import io.timingwheel.benchmarks.report.Measurement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class DurableMeasurementsTests {

	@ParameterizedTest
	@EnumSource
	void eachColumnHasATitleOfItsOwnAndEachChartShowsColumns(Store store) {
		List<Measurement> measurements = new ArrayList<>(new DurableMeasurements(DurableSetup.of(store)).all());
		measurements.addAll(new SizeMeasurements(DurableSetup.of(store), 100, Duration.ofMinutes(1)).all());

		assertThat(measurements).hasSizeGreaterThan(5).allSatisfy((measurement) -> {
			assertThat(measurement.columns()).extracting(Column::title).doesNotHaveDuplicates();
			assertThat(measurement.columns()).extracting(Column::key).containsAll(measurement.chart().columns());
		});
	}

	@ParameterizedTest
	@EnumSource
	void aPeerWhoseNodesCannotPauseHasNoNodeThatOnlyStoresTasks(Store store) {
		assertThat(new DurableMeasurements(DurableSetup.of(store)).all())
			.filteredOn((measurement) -> List.of("steady-lateness", "sharing").contains(measurement.id()))
			.isNotEmpty()
			.allSatisfy((measurement) -> assertThat(measurement.contestants()).isNotEmpty()
				.allSatisfy((contestant) -> assertThat(((DurablePeer) contestant).canPause()).isTrue()));
	}

	/** Without the checks the figures would have wrong labels. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			redis --commit-latency 5ms             | --commit-latency needs --store postgresql
			redis --peers DB_SCHEDULER             | [DB_SCHEDULER] cannot use --store redis
			postgresql --peers DB_SCHEDULER --pending 1 | Only timingwheel takes part with --pending
			postgresql --growth-time 23m           | --growth-time must be from 10s to 22m
			postgresql --warm-up 2000001           | --warm-up must be from 1 to 2000000
			redis --peers REDISSON --measurements sharing | None of the chosen peers takes part in sharing here
			""")
	@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
	void anOptionThatMakesNoSenseIsNamedBeforeAnythingRuns(String options, String message) {
		StringWriter error = new StringWriter();
		int status = new CommandLine(new DurableCommand()).setCaseInsensitiveEnumValuesAllowed(true)
			.setErr(new PrintWriter(error))
			.execute(("--store " + options).split(" "));

		assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
		assertThat(error.toString()).contains(message);
	}

	@Test
	void anAddressOfJdbcBecomesOneOfNodeJs() {
		assertThat(NodeJsPeers.address("jdbc:postgresql://localhost:1234/postgres?user=postgres"))
			.isEqualTo("postgres://postgres@localhost:1234/postgres");
		assertThat(NodeJsPeers.address("redis://127.0.0.1:1234")).isEqualTo("redis://127.0.0.1:1234");
	}

}
