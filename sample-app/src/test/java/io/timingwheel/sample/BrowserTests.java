package io.timingwheel.sample;

import java.time.Duration;
import java.util.List;
import java.util.logging.Level;

import org.apache.commons.logging.LogFactory;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.logging.LogType;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.awaitility.Awaitility.await;

/**
 * The pages of the application of a test, in a browser of the test class.
 */
@Tag("browser")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class BrowserTests {

	private static final String NO_BROWSER = "No page is tested in a browser, as chromium and chromedriver"
			+ " are neither on the PATH nor in /usr/bin";

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
	}

	@AfterAll
	void stopBrowser() {
		if (this.browser != null) {
			this.browser.quit();
		}
	}

	/**
	 * Loads a page anew, also if the browser shows this page already. The browser does
	 * not load a page whose address differs only after the {@code #}.
	 */
	final void load(String path) {
		this.browser.get("http://localhost:" + this.port + path);
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

	/**
	 * The errors in the log of the browser since the last call.
	 */
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
