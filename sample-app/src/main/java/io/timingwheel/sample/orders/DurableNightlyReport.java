package io.timingwheel.sample.orders;

import io.timingwheel.spring.annotation.Recurring;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * Makes a report each night, one in all nodes together. A night of the sample comes every
 * minute.
 */
@Component
@Profile("stored")
class DurableNightlyReport {

	private final OrderReports reports;

	DurableNightlyReport(OrderReports reports) {
		this.reports = reports;
	}

	@Recurring(cron = "${reports.cron}", zone = "UTC", name = "nightly-report", durable = true)
	public void create() {
		this.reports.create();
	}

}
