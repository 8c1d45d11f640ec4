package io.timingwheel.sample;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.Stream;

import org.openqa.selenium.WebDriverException;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

/**
 * Chromium without a window, if it and its driver are installed.
 *
 * @param browser the browser's executable
 * @param driver the driver's executable
 */
record Browser(Path browser, Path driver) {

	private static final int ATTEMPTS = 3;

	static Optional<Browser> find() {
		return executable("chromium", "google-chrome")
			.flatMap((browser) -> executable("chromedriver").map((driver) -> new Browser(browser, driver)));
	}

	/**
	 * Starts the browser. Tries again if it does not start, because another process may
	 * have taken the port of its driver.
	 */
	ChromeDriver start() {
		for (int attempt = 1;; attempt++) {
			try {
				return tryStart();
			}
			catch (WebDriverException ex) {
				if (attempt == ATTEMPTS) {
					throw ex;
				}
			}
		}
	}

	private ChromeDriver tryStart() {
		Path profile = Path.of("target", "chromium-" + UUID.randomUUID()).toAbsolutePath();
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(this.driver.toFile())
			.usingAnyFreePort()
			.build();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(this.browser.toFile());
		options.addArguments("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync",
				"--window-size=1360,900", "--user-data-dir=" + profile);
		return new ChromeDriver(service, options);
	}

	private static Optional<Path> executable(String... names) {
		String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/bin";
		return Arrays.stream(names)
			.flatMap((name) -> Stream.of(path.split(File.pathSeparator)).map((folder) -> Path.of(folder, name)))
			.filter(Files::isExecutable)
			.findFirst();
	}

}
