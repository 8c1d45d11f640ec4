package io.timingwheel.sample.drivers;

import io.timingwheel.spring.annotation.Delayed;

import org.springframework.stereotype.Component;

/**
 * Takes a driver offline when no heartbeat comes. Each call restarts the clock of its
 * driver, with the newest arguments.
 * <p>
 * This is a bean of its own, so that {@link DriverService} calls it through the proxy in
 * which {@code @Delayed} acts.
 */
@Component
class SilenceMonitor {

	private final DriverRepository drivers;

	SilenceMonitor(DriverRepository drivers) {
		this.drivers = drivers;
	}

	@Delayed(delay = "${drivers.silence:10m}", name = "driver-silent", key = "#driverId")
	public void markOffline(String driverId, long heartbeat) {
		// A heartbeat may come after this task has begun, when nothing can cancel the
		// task any more.
		this.drivers.update(driverId, (driver) -> driver.silentSince(heartbeat));
	}

}
