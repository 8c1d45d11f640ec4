package io.timingwheel.sample;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;

import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;

/** The page in a browser. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "orders.payment-window=20s", "drivers.silence=15s", "quotes.limit=1s", "reports.cron=-" })
@Order(2)
class PageTests extends BrowserTests {

	@BeforeEach
	void openPage() {
		// The tests share the log of the browser.
		this.browser.get("about:blank");
		errors();
		load("/");
	}

	@Test
	void anOrderCountsDownAndCloses() {
		assertThat(this.browser.getTitle()).isEqualTo("timingwheel");
		eventually().until(() -> text("#payment-window").equals("20 s"));
		eventually().until(() -> pendingOfLevels() == 0);

		click("#new-order");
		eventually().until(() -> text("#orders li .state").matches("Closes in \\d+ s"));
		eventually().until(() -> pendingOfLevels() == 1 && text("#pending").equals("1"));
		int left = secondsLeft();
		eventually().until(() -> secondsLeft() < left);

		eventually().until(() -> text("#orders li .state").startsWith("Closed"));
		eventually().until(() -> pendingOfLevels() == 0 && text("#pending").equals("0"));
		assertThat(text("#tasks")).contains("close-order");
		assertThat(errors()).isEmpty();
	}

	@Test
	void theButtonsDoWhatTheySay() {
		click("#new-order");
		click("#orders li .pay");
		eventually().until(() -> text("#orders li .state").startsWith("Paid after"));

		click("#new-order");
		click("#orders li:first-child .keep");
		eventually().until(() -> text("#orders li:first-child .state").equals("Stays open"));

		click("#new-driver");
		eventually().until(() -> text("#drivers li .state").startsWith("Online"));
		click("#drivers li .heartbeat");
		eventually().until(() -> text("#drivers-outcome").equals("Heartbeat 2 of ada."));

		click("#fleet");
		eventually().until(() -> text("#drivers-rest").startsWith("and 996 more"));
		eventually().until(() -> pendingOfLevels() > 100);

		click("#change");
		eventually().until(() -> text("#search-outcome").equals("1 of the changes wait for the index."));
		eventually().until(() -> text("#search-figures").equals("1 of 1 changes in the index, 1 built"));

		click("#send");
		eventually().until(() -> text("#callbacks-outcome").equals("40 callbacks are on their way."));
		eventually()
			.until(() -> text("#callbacks-figures").matches("40 received, [1-9]\\d* refused at first, 0 pending"));

		// A machine that stalls may reach the limit.
		eventually().until(() -> {
			click("[data-work='100ms']");
			eventually().until(() -> text("#quotes-outcome").matches("(After|504 after) .*"));
			return text("#quotes-outcome").matches("After .*: tea costs \\d+\\.\\d\\d\\.");
		});
		click("[data-work='2s']");
		eventually().until(() -> text("#quotes-outcome").startsWith("504 after"));
		List<String> errors = new ArrayList<>();
		eventually().until(() -> errors.addAll(errors()));
		assertThat(errors).allMatch((error) -> error.contains(" 504 "));
	}

	private int secondsLeft() {
		return Integer.parseInt("0" + text("#orders li .state").replaceAll("\\D", ""));
	}

	private int pendingOfLevels() {
		return this.browser.findElements(By.cssSelector("#levels .pending .count"))
			.stream()
			.mapToInt((count) -> Integer.parseInt(count.getText().replace(",", "")))
			.sum();
	}

}
