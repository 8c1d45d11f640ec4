package io.timingwheel.sample.orders;

import java.util.List;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
class OrderReportController {

	private final OrderReports reports;

	OrderReportController(OrderReports reports) {
		this.reports = reports;
	}

	@GetMapping("/reports")
	List<OrderReport> reports() {
		return this.reports.newestFirst();
	}

}
