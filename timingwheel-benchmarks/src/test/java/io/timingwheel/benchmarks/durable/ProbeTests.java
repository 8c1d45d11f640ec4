package io.timingwheel.benchmarks.durable;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Map;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ProbeTests {

	private final Probe probe = new Probe();

	@Test
	void figuresTellOfLateAndEarlyTasksSinceTheLastReset() {
		this.probe.run(Instant.EPOCH);
		this.probe.reset();
		Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		this.probe.run(now.minusSeconds(200));
		this.probe.run(now.minusSeconds(500));
		this.probe.run(now.plusSeconds(6_000));

		Map<String, Double> figures = this.probe.figures();

		assertThat(figures).containsEntry("count", 3.0).containsEntry("early", 1.0);
		assertThat(figures.get("p50")).isBetween(200_000.0, 499_999.0);
		assertThat(figures.get("max")).isBetween(500_000.0, 5_900_000.0);
		assertThat(figures.get("last")).isGreaterThanOrEqualTo(figures.get("first"));
	}

}
