package io.timingwheel.benchmarks.report;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.timingwheel.benchmarks.Contestant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

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

	@Test
	void aChosenPeerThatIsNotAvailableIsNamed() {
		Options command = new Options();
		new CommandLine(command).parseArgs("--measurements", "storing");
		Measurement storing = new Measurement("storing", "Storing", "",
				List.of(new TestPeer("HERE", true), new TestPeer("ELSEWHERE", false)), List.of(), List.of(new NoStep()),
				new Measurement.Chart(Measurement.Chart.Kind.BARS, "", List.of()));

		assertThatExceptionOfType(CommandLine.ParameterException.class)
			.isThrownBy(() -> command.options.check(List.of(storing), (peer) -> peer.name().equals("ELSEWHERE")))
			.withMessage(
					"None of the chosen peers takes part in storing here (not available on this machine: ELSEWHERE)."
							+ " Change --measurements, or --peers: this measurement compares HERE");
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

	@CommandLine.Command
	private static final class Options {

		@CommandLine.Mixin
		private final ReportOptions options = new ReportOptions();

	}

	private record TestPeer(String name, boolean isAvailable) implements Contestant {

		@Override
		public String label() {
			return name();
		}

		@Override
		public boolean isOurs() {
			return false;
		}

	}

	private record NoStep() implements Step {

		@Override
		public boolean suits(Contestant contestant) {
			return true;
		}

		@Override
		public Map<String, Double> run(Contestant contestant, Effort effort) {
			return Map.of();
		}

	}

}
