package io.timingwheel.sample.drivers;

import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping("/drivers")
class DriverController {

	private static final int LISTED = 50;

	private static final int LARGEST_FLEET = 10_000;

	private static final Duration LONGEST_SPREAD = Duration.ofMinutes(1);

	private final DriverService drivers;

	private final Fleet fleet;

	private final DriverProperties properties;

	DriverController(DriverService drivers, Fleet fleet, DriverProperties properties) {
		this.drivers = drivers;
		this.fleet = fleet;
		this.properties = properties;
	}

	@PostMapping("/{id}/heartbeat")
	Driver heartbeat(@PathVariable String id) {
		return this.drivers.heartbeat(id);
	}

	@PostMapping("/heartbeats")
	FleetHeartbeats heartbeats(@RequestParam int count,
			@RequestParam(defaultValue = "0s") @DurationFormat(style = DurationFormat.Style.SIMPLE) Duration spread) {
		if (count < 1 || count > LARGEST_FLEET) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"count must be from 1 to %d, not %d".formatted(LARGEST_FLEET, count));
		}
		if (spread.isNegative() || spread.compareTo(LONGEST_SPREAD) > 0) {
			throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
					"spread must be from 0s to %ds".formatted(LONGEST_SPREAD.toSeconds()));
		}
		this.fleet.sendHeartbeats(count, spread);
		return new FleetHeartbeats(count, spread);
	}

	@GetMapping("/{id}")
	Driver get(@PathVariable String id) {
		return this.drivers.get(id);
	}

	@GetMapping
	DriverList list() {
		List<Driver> all = this.drivers.all();
		long online = all.stream().filter((driver) -> driver.status() == Driver.Status.ONLINE).count();
		List<Driver> listed = all.stream().sorted(Comparator.comparing(Driver::id)).limit(LISTED).toList();
		return new DriverList(Instant.now(), this.properties.silence(), all.size(), online, listed);
	}

	@ExceptionHandler
	ProblemDetail notFound(DriverNotFoundException ex) {
		return ProblemDetail.forStatusAndDetail(HttpStatus.NOT_FOUND, ex.getMessage());
	}

	/**
	 * The drivers. The list is limited.
	 *
	 * @param now the server's time, to count down by
	 * @param silence how long after the last heartbeat a driver goes offline
	 * @param total the number of all drivers
	 * @param online the number of those that are online
	 * @param drivers the first of them by id
	 */
	record DriverList(Instant now, Duration silence, int total, long online, List<Driver> drivers) {
	}

	/**
	 * The heartbeats of a fleet.
	 *
	 * @param count the number of drivers
	 * @param spread the time over which their heartbeats come
	 */
	record FleetHeartbeats(int count, Duration spread) {
	}

}
