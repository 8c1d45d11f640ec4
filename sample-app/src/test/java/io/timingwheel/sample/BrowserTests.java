package io.timingwheel.sample;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.logging.Level;
import java.util.stream.Stream;

import org.apache.commons.logging.LogFactory;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.openqa.selenium.By;
import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogType;

import org.springframework.boot.test.web.server.LocalServerPort;

import static org.awaitility.Awaitility.await;

/**
 * The pages of the application of a test, in a browser of the test class: Chromium
 * without a window, if it and its driver are installed.
 */
@Tag("browser")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class BrowserTests {

	private static final String NO_BROWSER = "No page is tested in a browser, as chromium and chromedriver"
			+ " are neither on the PATH nor in /usr/bin";

	private static final int ATTEMPTS = 3;

	/** A busy machine takes less time than this for what a test waits for. */
	private static final Duration PATIENCE = Duration.ofMinutes(2);

	ChromeDriver browser;

	@LocalServerPort
	private int port;

	private int loads;

	@BeforeAll
	void startBrowser() {
		File chromium = executable("chromium", "google-chrome");
		File driver = executable("chromedriver");
		if (chromium == null || driver == null) {
			LogFactory.getLog(getClass()).warn(NO_BROWSER);
		}
		Assumptions.assumeTrue(chromium != null && driver != null, NO_BROWSER);
		for (int attempt = 1; this.browser == null; attempt++) {
			try {
				this.browser = start(chromium, driver);
			}
			catch (WebDriverException ex) {
				// Another process may have taken the port of the driver.
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
		this.browser.manage().timeouts().scriptTimeout(PATIENCE);
	}

	private ChromeDriver start(File chromium, File driver) {
		ChromeOptions options = new ChromeOptions();
		options.setBinary(chromium);
		options.addArguments("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				// Pages that move little leave the processor to the tests.
				"--force-prefers-reduced-motion", "--window-size=1360,900",
				"--user-data-dir=" + Path.of("target", "chromium-" + UUID.randomUUID()).toAbsolutePath());
		return new ChromeDriver(
				new ChromeDriverService.Builder().usingDriverExecutable(driver).usingAnyFreePort().build(), options);
	}

	private static @Nullable File executable(String... names) {
		String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/bin";
		return Arrays.stream(names)
			.flatMap((name) -> Stream.of(path.split(File.pathSeparator)).map((folder) -> Path.of(folder, name)))
			.filter(Files::isExecutable)
			.map(Path::toFile)
			.findFirst()
			.orElse(null);
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

	/**
	 * Loads the console with a view. Each address has a number of its own before the
	 * {@code #}, so that the browser loads the page anew.
	 */
	final void open(String view) {
		load("/actuator/timingwheelconsole?load=" + ++this.loads + "#/" + view);
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

	/** The time of the page in milliseconds. */
	final double now() {
		return ((Number) this.browser.executeScript("return performance.now()")).doubleValue();
	}

	/** The errors in the log of the browser since the last call. */
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
