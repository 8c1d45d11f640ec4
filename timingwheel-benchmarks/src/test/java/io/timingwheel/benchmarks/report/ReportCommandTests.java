package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ReportCommandTests {

	@TempDir
	Path directory;

	@Test
	void aFileIsNoDirectoryForTheReport() throws IOException {
		Path file = Files.createFile(this.directory.resolve("report.md"));

		assertThat(errorOf("--output", file.toString())).contains("--output " + file + " is no directory");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			--rounds -1                          | --rounds must be at least 1
			--rounds many                        | is not an int
			--measurements speed                 | There is no measurement 'speed' here, only schedule, churn,
			--peers HASHED_WHEEL                 | expected one of [TIMINGWHEEL, TIMINGWHEEL_100US
			--peers AGRONA --measurements idle   | this measurement compares TIMINGWHEEL, TIMINGWHEEL_100US
			""")
	void anOptionThatMakesNoSenseIsNamedBeforeAnythingRuns(String arguments, String message) {
		assertThat(errorOf(arguments.split(" "))).contains(message);
	}

	private static String errorOf(String... arguments) {
		StringWriter error = new StringWriter();
		int status = new CommandLine(new ReportCommand()).setCaseInsensitiveEnumValuesAllowed(true)
			.setErr(new PrintWriter(error))
			.execute(arguments);
		assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
		return error.toString();
	}

	@Test
	void theHelpListsEachMeasurementWithItsTitle() {
		String help = new CommandLine(new ReportCommand()).getUsageMessage();

		assertThat(help).containsPattern("\n  fixed-churn +Schedule and cancel with one fixed delay\n");
		assertThat(Measurements.all(Effort.QUICK)).hasSizeGreaterThan(10)
			.allSatisfy((measurement) -> assertThat(help).contains("\n  " + measurement.id() + " "));
	}

}
