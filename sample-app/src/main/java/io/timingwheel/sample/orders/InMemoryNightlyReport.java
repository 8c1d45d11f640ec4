package io.timingwheel.sample.orders;

import io.timingwheel.spring.annotation.Recurring;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/** Makes a report each night. A night of the sample comes every minute. */
@Component
@Profile("!stored")
class InMemoryNightlyReport {

	private final OrderReports reports;

	InMemoryNightlyReport(OrderReports reports) {
		this.reports = reports;
	}

	@Recurring(cron = "${reports.cron}", name = "nightly-report")
	public void create() {
		this.reports.create();
	}

}
