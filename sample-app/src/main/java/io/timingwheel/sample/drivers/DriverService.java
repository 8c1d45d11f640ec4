package io.timingwheel.sample.drivers;

import java.util.List;

import org.springframework.stereotype.Service;

@Service
class DriverService {

	private final DriverRepository drivers;

	private final SilenceMonitor monitor;

	private final DriverProperties properties;

	DriverService(DriverRepository drivers, SilenceMonitor monitor, DriverProperties properties) {
		this.drivers = drivers;
		this.monitor = monitor;
		this.properties = properties;
	}

	/**
	 * Takes a heartbeat of a driver. The driver is online until no heartbeat has come for
	 * the time of silence.
	 * @param driverId the driver
	 * @return the driver
	 */
	Driver heartbeat(String driverId) {
		return this.drivers.save(driverId, (known) -> {
			long heartbeat = (known != null) ? known.heartbeats() + 1 : 1;
			Driver driver = Driver.online(driverId, heartbeat, this.properties.silence());
			// Within the save: of two heartbeats at the same time, the one that is saved
			// last is also the last to restart the clock.
			this.monitor.markOffline(driverId, heartbeat);
			return driver;
		});
	}

	Driver get(String driverId) {
		return this.drivers.find(driverId).orElseThrow(() -> new DriverNotFoundException(driverId));
	}

	List<Driver> all() {
		return this.drivers.all();
	}

}
