package io.timingwheel.benchmarks.report;

import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ReportCommandTests {

	@Test
	void theHelpListsEachMeasurementWithItsTitle() {
		String help = new CommandLine(new ReportCommand()).getUsageMessage();

		assertThat(help).containsPattern("\n  fixed-churn +Schedule and cancel with one fixed delay\n");
		assertThat(Measurements.all(Effort.QUICK)).hasSizeGreaterThan(10)
			.allSatisfy((measurement) -> assertThat(help).contains("\n  " + measurement.id() + " "));
	}

}
