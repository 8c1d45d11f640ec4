package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.benchmarks.report.Column;
import io.timingwheel.benchmarks.report.Measurement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

}
