package io.timingwheel.test.docs;

import java.time.Clock;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.annotation.Recurring;

/**
 * Writes a report each night.
 */
class Reports {

	private final Clock clock;

	private final List<LocalDate> dates = new ArrayList<>();

	Reports(Clock clock) {
		this.clock = clock;
	}

	@Recurring(cron = "0 0 3 * * *", zone = "UTC", name = "nightly-report", durable = true)
	void write() {
		this.dates.add(LocalDate.now(this.clock));
	}

	List<LocalDate> dates() {
		return this.dates;
	}

}
