package io.timingwheel.sample.drivers;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class DriverRepositoryTests {

	private final DriverRepository drivers = new DriverRepository();

	@Test
	void silenceAfterAnEarlierHeartbeatTakesNobodyOffline() {
		heartbeat("ada", 1);
		heartbeat("ada", 2);
		new SilenceMonitor(this.drivers).markOffline("ada", 1);
		assertThat(this.drivers.find("ada")).get().extracting(Driver::status).isEqualTo(Driver.Status.ONLINE);
		new SilenceMonitor(this.drivers).markOffline("ada", 2);
		assertThat(this.drivers.find("ada")).get().extracting(Driver::status).isEqualTo(Driver.Status.OFFLINE);
	}

	private void heartbeat(String id, long number) {
		this.drivers.save(id, (known) -> Driver.online(id, number, Duration.ofSeconds(1)));
	}

}
