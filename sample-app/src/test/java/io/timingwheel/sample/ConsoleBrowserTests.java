package io.timingwheel.sample;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.logging.Level;

import org.apache.commons.logging.LogFactory;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogType;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.awaitility.Awaitility.await;

/**
 * The console of the application of a test, in a browser of the test class.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class ConsoleBrowserTests {

	private static final String NO_BROWSER = "The console is not tested in a browser, as chromium and chromedriver"
			+ " are neither on the PATH nor in /usr/bin";

	/** Keeps what takes the page longer than 50 ms at a stretch. */
	private static final String OBSERVE_LONG_TASKS = """
			window.longTasks = [];
			new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
				.observe({ type: "longtask" });
			""";

	/** A busy machine takes less time than this for what a test waits for. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	ChromeDriver browser;

	@LocalServerPort
	private int port;

	@BeforeAll
	void startBrowser() {
		Browser installed = Browser.find().orElse(null);
		if (installed == null) {
			LogFactory.getLog(getClass()).warn(NO_BROWSER);
		}
		Assumptions.assumeTrue(installed != null, NO_BROWSER);
		this.browser = installed.start();
		this.browser.manage().timeouts().scriptTimeout(PATIENCE);
		this.browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", OBSERVE_LONG_TASKS));
	}

	@AfterAll
	void stopBrowser() {
		if (this.browser != null) {
			this.browser.quit();
		}
	}

	final void open(String view) {
		this.browser.get("about:blank");
		this.browser.get("http://localhost:" + this.port + "/actuator/timingwheelconsole#/" + view);
	}

	static ConditionFactory eventually() {
		return await().atMost(PATIENCE).ignoreExceptions();
	}

	final void click(String selector) {
		eventually().until(() -> {
			this.browser.findElement(By.cssSelector(selector)).click();
			return true;
		});
	}

	final String text(String selector) {
		List<WebElement> found = this.browser.findElements(By.cssSelector(selector));
		return found.isEmpty() ? "" : found.get(0).getText();
	}

	final List<?> longTasks(int millis) {
		this.browser.executeScript("window.longTasks.length = 0");
		double start = now();
		eventually().pollInterval(Duration.ofMillis(200)).until(() -> now() > start + millis);
		return (List<?>) this.browser.executeScript("return window.longTasks");
	}

	final List<Double> requests() {
		List<?> times = (List<?>) this.browser.executeScript("""
				return performance.getEntriesByType("resource").filter(({ name }) => name.includes("/live?"))
					.map(({ startTime }) => startTime);
				""");
		return times.stream().map((time) -> ((Number) time).doubleValue()).toList();
	}

	final double now() {
		return ((Number) this.browser.executeScript("return performance.now()")).doubleValue();
	}

	final List<String> errors() {
		return this.browser.manage()
			.logs()
			.get(LogType.BROWSER)
			.getAll()
			.stream()
			.filter((entry) -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
			.map(Object::toString)
			.toList();
	}

}
