package io.timingwheel.benchmarks.report;

import java.util.List;
import java.util.Map;

import io.timingwheel.benchmarks.peer.Peer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTests {

	private final Measurement measurement = new Measurement("id", "Title", "Text.",
			List.of(Peer.TIMINGWHEEL, Peer.NETTY_1MS, Peer.KAFKA, Peer.STPE),
			List.of(Column.rate("rate", "rate"), Column.cost("cost", "cost [ns]", 0)), List.of(),
			new Measurement.Chart(Measurement.Chart.Kind.BARS, "M/s", List.of("rate")));

	private final Results results = new Results();

	@Test
	void putsTheRatioToTheBestPeerBehindTheMedian() {
		this.results.add(this.measurement, Peer.TIMINGWHEEL, Map.of("rate", 20.0, "cost", 50.0));
		this.results.add(this.measurement, Peer.NETTY_1MS, Map.of("rate", 9.0, "cost", 200.0));
		this.results.add(this.measurement, Peer.NETTY_1MS, Map.of("rate", 10.0, "cost", 900.0));
		this.results.add(this.measurement, Peer.NETTY_1MS, Map.of("rate", 99.0, "cost", 100.0));
		this.results.add(this.measurement, Peer.KAFKA, Map.of("cost", 100.0));

		assertThat(new MarkdownWriter(this.results, "").table(this.measurement)).isEqualTo("""
				|  | rate [M/s] | cost [ns] |
				| --- | ---: | ---: |
				| **timingwheel** | 20.00 (2.00x) | 50 (0.50x) |
				| Netty, tick 1 ms | 10.00 (1.00x) | 200 (2.00x) |
				| Kafka SystemTimer | - | 100 (1.00x) |
				""");
	}

}
