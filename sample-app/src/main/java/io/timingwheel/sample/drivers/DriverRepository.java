package io.timingwheel.sample.drivers;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.stereotype.Repository;

/** The drivers, in memory. Each method is atomic. */
@Repository
class DriverRepository {

	static final int CAPACITY = 20_000;

	private final Map<String, Driver> drivers = new LinkedHashMap<>();

	/**
	 * Adds or changes a driver. Beyond the capacity the driver goes that has been known
	 * longest.
	 * @param id the driver's id
	 * @param change makes the driver from the one known, {@code null} if there is none;
	 * if it throws, nothing is changed
	 * @return the driver
	 */
	synchronized Driver save(String id, Function<@Nullable Driver, Driver> change) {
		Driver driver = change.apply(this.drivers.get(id));
		this.drivers.put(id, driver);
		if (this.drivers.size() > CAPACITY) {
			this.drivers.remove(this.drivers.keySet().iterator().next());
		}
		return driver;
	}

	synchronized Optional<Driver> update(String id, UnaryOperator<Driver> change) {
		return Optional.ofNullable(this.drivers.computeIfPresent(id, (key, driver) -> change.apply(driver)));
	}

	synchronized Optional<Driver> find(String id) {
		return Optional.ofNullable(this.drivers.get(id));
	}

	synchronized List<Driver> all() {
		return new ArrayList<>(this.drivers.values());
	}

}
