package io.timingwheel.sample;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;

/**
 * The console of the application of a test, in a browser of the test class.
 */
abstract class ConsoleBrowserTests extends BrowserTests {

	/** Keeps what takes the page longer than 50 ms at a stretch. */
	private static final String OBSERVE_LONG_TASKS = """
			window.longTasks = [];
			new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
				.observe({ type: "longtask" });
			""";

	private int loads;

	@BeforeAll
	void observeLongTasks() {
		this.browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", OBSERVE_LONG_TASKS));
	}

	/**
	 * Loads the console with a view. Each address has a number of its own before the
	 * {@code #}, so that the browser loads the page anew.
	 */
	final void open(String view) {
		load("/actuator/timingwheelconsole?load=" + ++this.loads + "#/" + view);
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

}
