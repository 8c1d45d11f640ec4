package io.timingwheel.sample.drivers;

class DriverNotFoundException extends RuntimeException {

	DriverNotFoundException(String driverId) {
		super("Nothing was ever heard of driver " + driverId);
	}

}
