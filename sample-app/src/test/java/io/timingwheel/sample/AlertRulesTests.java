package io.timingwheel.sample;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

/**
 * The alerts in {@code docs/prometheus} fire when their tests say so. That the
 * application exports what they read is a promise of {@link DashboardTests}.
 */
class AlertRulesTests {

	@Test
	void eachAlertFiresInItsTest() throws Exception {
		Process promtool;
		try {
			promtool = new ProcessBuilder("promtool", "test", "rules", "timingwheel-rules-test.yml")
				.directory(new File("../docs/prometheus"))
				.redirectErrorStream(true)
				.start();
		}
		catch (IOException ex) {
			abort("promtool of Prometheus is not installed: the alerts are not tested");
			return;
		}
		String output = new String(promtool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
		assertThat(promtool.waitFor()).as(output).isZero();
	}

}
