package io.timingwheel.benchmarks.durable;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.benchmarks.report.Column;
import io.timingwheel.benchmarks.report.Measurement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class DurableCommandTests {

	private final CommandLine command = new CommandLine(new DurableCommand()).setCaseInsensitiveEnumValuesAllowed(true);

	@ParameterizedTest
	@EnumSource
	void theHelpListsEachMeasurementOfEachStore(Store store) {
		String help = this.command.getUsageMessage();

		assertThat(new DurableMeasurements(DurableSetup.of(store)).all()).hasSizeGreaterThan(5)
			.allSatisfy((measurement) -> assertThat(help).contains("\n  " + measurement.id() + " "));
		assertThat(help).containsPattern("\n  held-transaction +Beside an open transaction \\(only postgresql\\)\n")
			.containsPattern("\n  growth +.+ \\(only postgresql\\)\n")
			.containsPattern("\n  sharing +.+ \\(only redis\\)\n")
			.containsPattern("\n  lateness +Lateness\n");
	}

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
	@CsvSource(delimiter = '|', textBlock = """
			--store redis --commit-latency 5ms      | --commit-latency needs --store postgresql
			--store postgresql --commit-latency 1s  | --commit-latency must be from 0ms to 100ms
			--store postgresql --commit-latency hot | is not a duration such as 5ms, 90s or 10m
			--store postgresql --pending -1         | --pending must be from 0 to 100000000
			--store postgresql --growth-time 23m    | --growth-time must be from 10s to 22m
			--store postgresql --warm-up 2000001    | --warm-up must be from 1 to 2000000
			--store mysql                           | expected one of [POSTGRESQL, REDIS]
			--store redis --peers NOBODY            | expected one of [TIMINGWHEEL, TIMINGWHEEL_500
			--store redis --peers DB_SCHEDULER      | [DB_SCHEDULER] cannot use --store redis
			--store redis --measurements nothing    | There is no measurement 'nothing' here, only executions,
			--store redis --peers REDISSON --measurements lateness,sharing | takes part in sharing here
			--store postgresql --peers DB_SCHEDULER --pending 1            | Only timingwheel takes part with --pending
			""")
	void anOptionThatMakesNoSenseIsNamedBeforeAServerStarts(String arguments, String message) {
		StringWriter error = new StringWriter();

		int status = this.command.setErr(new PrintWriter(error)).execute(arguments.split(" "));

		assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
		assertThat(error.toString()).contains(message);
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

}
