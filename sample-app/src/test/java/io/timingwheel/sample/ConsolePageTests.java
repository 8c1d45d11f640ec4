package io.timingwheel.sample;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.interactions.Actions;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.resttestclient.autoconfigure.AutoConfigureRestTestClient;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ClassPathResource;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.test.web.servlet.client.RestTestClient;
import org.springframework.web.filter.OncePerRequestFilter;

import static org.assertj.core.api.Assertions.assertThat;

/** The console in a browser. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "spring.datasource.url=jdbc:h2:mem:console", "orders.payment-window=10m",
				"timingwheel.tasks.fragile.max-attempts=1", "timingwheel.store.poll-interval=100ms",
				"timingwheel.store.lease=5m" })
@AutoConfigureRestTestClient
@ActiveProfiles("durable")
@Order(1)
class ConsolePageTests extends BrowserTests {

	private static final List<String> VIEWS = List.of("now", "names", "name/close-order", "name/fragile", "dead",
			"schedules", "node");

	private static final List<String> ACTIONS = List.of("Pause", "Resume", "Pause claims", "Run now", "Move", "Cancel",
			"Requeue", "Delete", "Requeue all", "Delete all");

	@Autowired
	private RestTestClient http;

	@Autowired
	private DelayedTaskOperations tasks;

	@AfterEach
	void thePageHasShownNoError() {
		assertThat(errors()).isEmpty();
	}

	@Test
	void anOrderCountsDownAndIsMovedRunAndCancelled() {
		String moved = order();
		String cancelled = order();
		open("name/close-order");
		eventually().until(() -> due(moved).matches("in \\d min \\d+ s"));
		String due = due(moved);
		eventually().until(() -> !due(moved).equals(due));
		assertThatAllButtonsFitOntoAPhone();

		press("Move " + moved);
		type("#dialog-input", "2h");
		this.browser.findElement(By.id("dialog-input")).sendKeys(Keys.ENTER);
		eventually().until(() -> due(moved).matches("in 1 h 5\\d min|in 2 h"));
		press("Run now " + moved);
		eventually().until(() -> status(moved).equals("CLOSED"));
		eventually().until(() -> due(moved).isEmpty());

		type("#key", cancelled);
		click("form.find button");
		eventually().until(() -> this.browser.findElements(By.cssSelector("[aria-label^='Cancel " + cancelled + "']"))
			.size() == 2);
		press("Cancel " + cancelled);
		click("#dialog-do");
		eventually().until(() -> due(cancelled).isEmpty());
		assertThat(status(cancelled)).isEqualTo("PENDING");
		eventually().until(() -> text("form.find ~ .empty").contains("“" + cancelled + "”"));
	}

	@Test
	void deadTasksAreGroupedAndRequeued(@Autowired Fragile fragile) {
		List.of(2, 3, 4).forEach(fragile::fail);
		open("dead");
		eventually().until(() -> text("td.wrap").contains("HTTP 50") && text("td.wrap + td").equals("3"));
		assertThat(text("#main")).doesNotContain("These groups count");
		eventually().until(() -> text("#dead-badge").equals("3"));
		Fragile.mended = true;
		click("td.wrap ~ td button");
		click("#dialog-do");
		eventually().until(() -> text("#outcome").equals("3 requeued"));
		eventually().until(() -> text("#main").contains("Nothing is dead."));
		Fragile.mended = false;
	}

	@Test
	void schedulesShowTheirNextTimesAndAreRunNow(@Autowired ReportConfiguration report) {
		TaskId id = TaskId.of("close-order", "reminder");
		this.tasks.recur(id, Schedule.every(Duration.ofHours(2)), 1L);
		open("schedules");
		eventually().until(() -> nextRun("close-order reminder").matches("in 1 h 5\\d min|in 2 h"));
		type("#filter", "report");
		// The schedule began with the application.
		eventually()
			.until(() -> nextRun("close-order reminder").isEmpty() && nextRun("report").matches("in \\d min \\d+ s"));
		press("Run now report");
		eventually().until(() -> report.runs.get() == 1);
		eventually().until(() -> nextRun("report").startsWith("in "));
		this.tasks.cancel(id);
	}

	@Test
	void aNameIsPausedAndResumed() {
		String order = order();
		open("name/close-order");
		click("[data-paused=false] button");
		eventually().until(() -> text("[data-paused=true] .tag").equals("paused"));
		press("Run now " + order);
		eventually().until(() -> due(order).matches("now|.* late"));
		assertThat(status(order)).isEqualTo("PENDING");
		click("[data-paused=true] button");
		eventually().until(() -> status(order).equals("CLOSED"));
	}

	@Test
	void theClaimsOfTheNodeArePausedAndResumed() {
		open("node");
		eventually().until(() -> nodeStates().equals(List.of("claims tasks")));
		click("[data-action=pause] button");
		eventually().until(() -> text("[data-action=resume] .tag").equals("paused"));
		eventually().until(() -> nodeStates().equals(List.of("paused")));
		click("[data-action=resume] button");
		eventually().until(() -> text("[data-action=pause] .tag").equals("claims tasks"));
	}

	@Test
	void theKeyboardAloneIsEnough() {
		DelayedTask<?> task = this.tasks.schedule(TaskId.of("keyboard", 1), Duration.ofHours(1), () -> {
		});
		open("now");
		eventually().until(() -> text("#state-text").equals("Live"));
		keys(Keys.TAB);
		assertThat(focused("textContent")).isEqualTo("Skip to the content");
		keys(Keys.TAB, Keys.TAB, Keys.ENTER);
		eventually().until(() -> this.browser.getCurrentUrl().endsWith("#/names"));
		tabTo("id", "filter");
		keys("keyboard");
		eventually().until(() -> text("tbody").startsWith("keyboard") && !text("tbody").contains("close-order"));
		tabTo("textContent", "keyboard");
		keys(Keys.ENTER);
		eventually().until(() -> !due("1").isEmpty());
		tabTo("aria-label", "Cancel 1");
		keys(Keys.ENTER);
		eventually().until(() -> focused("id").equals("dialog-do"));
		keys(Keys.ESCAPE);
		eventually().until(() -> focused("aria-label").equals("Cancel 1"));
		assertThat(task.isCancelled()).isFalse();
		keys(Keys.ENTER);
		eventually().until(() -> focused("id").equals("dialog-do"));
		keys(Keys.ENTER);
		eventually().until(task::isCancelled);
		eventually().until(() -> text("#outcome").equals("keyboard 1 is cancelled."));
	}

	@Test
	@Tag("faults")
	void axeFindsNothing() throws IOException {
		order();
		String axe = new ClassPathResource("META-INF/resources/webjars/axe-core/4.6.3/axe.min.js")
			.getContentAsString(StandardCharsets.UTF_8);
		try {
			for (String view : VIEWS) {
				show("light", 1360);
				open(view);
				eventually().until(() -> text("#state-text").equals("Live"));
				this.browser.executeScript(axe + ";window.axe = axe");
				checkWithAxe(view, "light", 1360);
				checkWithAxe(view, "dark", 1360);
				checkWithAxe(view, "dark", 390);
			}
		}
		finally {
			showAsBefore();
		}
	}

	private void checkWithAxe(String view, String theme, int width) {
		show(theme, width);
		assertThat((Boolean) this.browser
			.executeScript("return document.documentElement.scrollWidth <= document.documentElement.clientWidth"))
			.as("%s fits into %d pixels", view, width)
			.isTrue();
		assertThat((List<?>) this.browser.executeAsyncScript("""
				const done = arguments[0];
				axe.run().then(({ violations }) => done(violations.map(({ id, nodes }) =>
					`${id}: ${nodes.map(({ target }) => target).join(", ")}`)));
				""")).as("%s, %s, %d pixels", view, theme, width).isEmpty();
	}

	/**
	 * Shows the page in another theme and width. The wheel moves once a second, which
	 * leaves the processor to axe.
	 */
	private void show(String theme, int width) {
		this.browser.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", theme),
						Map.of("name", "prefers-reduced-motion", "value", "reduce"))));
		this.browser.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", 900, "deviceScaleFactor", 1, "mobile", false));
	}

	private void showAsBefore() {
		this.browser.executeCdpCommand("Emulation.clearDeviceMetricsOverride", Map.of());
		this.browser.executeCdpCommand("Emulation.setEmulatedMedia", Map.of("features", List.of()));
	}

	@Test
	void thePageAsksItsOwnServerAtMostTwiceASecondAndOnlyWhileItIsVisible() {
		open("now");
		eventually().until(() -> requests().size() >= 5);
		List<Double> times = requests();
		for (int i = 2; i < times.size(); i++) {
			assertThat(times.get(i) - times.get(i - 2)).isGreaterThan(950);
		}
		assertThat((List<?>) this.browser.executeScript("""
				return performance.getEntriesByType("resource").map(({ name }) => name)
					.filter((name) => !name.startsWith(location.origin + "/"));
				""")).isEmpty();
		this.browser.executeScript("""
				Object.defineProperty(document, "hidden", { configurable: true, get: () => true });
				document.dispatchEvent(new Event("visibilitychange"));
				""");
		double hiddenAt = now();
		eventually().pollDelay(Duration.ofSeconds(3)).until(() -> now() > hiddenAt + 3000);
		assertThat(requests()).allMatch((time) -> time < hiddenAt + 1);
		this.browser.executeScript("""
				delete document.hidden;
				document.dispatchEvent(new Event("visibilitychange"));
				""");
		eventually().until(() -> requests().stream().anyMatch((time) -> time > hiddenAt + 3000));
	}

	@Test
	void aLostServerAndAnErrorAreShownAsWhatTheyAre(@Autowired Gate gate) {
		open("now");
		eventually().until(() -> text("#state-text").equals("Live"));
		assertThat(gate.requestedWith).isEqualTo("XMLHttpRequest");
		this.browser.executeScript("""
				window.realFetch = window.fetch;
				window.fetch = () => Promise.reject(new TypeError("lost"));
				""");
		eventually().until(() -> text("#state-text").equals("No answer")
				&& text("#lost").startsWith("The server has not answered since"));
		this.browser.executeScript("window.fetch = window.realFetch;");
		for (int status : new int[] { 403, 503 }) {
			gate.status = status;
			eventually().until(() -> text("#state-text").equals("Error " + status)
					&& text("#lost").matches(".*\\(" + status + "\\)\\..* since .*"));
		}
		gate.status = 401;
		eventually().until(() -> text("#state-text").equals("Signed out") && text("#lost").contains("has ended"));
		gate.status = 200;
		eventually().until(() -> text("#lost").contains("A proxy or a login may be between."));
		gate.status = 0;
		eventually().until(() -> text("#state-text").startsWith("Live") && text("#lost").isEmpty());
		String order = order();
		open("name/close-order");
		eventually().until(() -> !due(order).isEmpty());
		gate.actionStatus = 403;
		press("Run now " + order);
		eventually().until(() -> text("#outcome").startsWith("The server does not permit this to you (403)."));
		gate.actionStatus = 0;
		assertThat(errors()).as("the answers above").hasSizeGreaterThan(3);
	}

	@Test
	void nobodyWhoMayOnlyReadSeesAnAction(@Autowired Fragile fragile) {
		order();
		fragile.fail(5);
		Object script = this.browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source", """
				const parse = JSON.parse;
				JSON.parse = (...json) => Object.assign(parse(...json), { acts: false });
				""")).get("identifier");
		try {
			for (String view : VIEWS) {
				open(view);
				eventually().until(() -> text("#state-text").equals("Live") && text("#access").equals("Read-only")
						&& (!view.matches("dead|name/fragile") || text("td.wrap").contains("HTTP 50")));
				assertThat(this.browser.findElements(By.cssSelector("main button"))).filteredOn(WebElement::isDisplayed)
					.extracting(WebElement::getText)
					.as(view)
					.doesNotContainAnyElementsOf(ACTIONS);
			}
		}
		finally {
			this.browser.executeCdpCommand("Page.removeScriptToEvaluateOnNewDocument", Map.of("identifier", script));
			this.http.post()
				.uri("/actuator/delayedtasks/fragile")
				.body(Map.of("action", "delete-dead"))
				.exchange()
				.expectStatus()
				.is2xxSuccessful();
		}
	}

	@Test
	void theYear10000AndAddressesThatMakeNoSenseAreShown() {
		TaskId far = TaskId.of("close-order", "far");
		this.tasks.enqueue(far, Duration.ofDays(3_000_000), 1L);
		open("name/close-order");
		eventually().until(() -> due("far").matches("in \\d{7} d.*"));
		this.browser.findElement(By.linkText("far")).click();
		eventually().until(() -> text(".facts").contains("+010"));
		this.tasks.cancel(far);
		open("name/100%");
		eventually().until(() -> text("#main").contains("There is no such name."));
		assertThat(text("h2.mono")).isEqualTo("100%");
		open("constructor/x");
		eventually().until(() -> text("#main").contains("Names that want attention"));
		assertThat(text("#state-text")).isEqualTo("Live");
	}

	@Test
	void aDeadTaskIsOpenedAndAGroupIsActedOnExactly(@Autowired Fragile fragile) {
		List.of(1, 11, 12, 99).forEach(fragile::fail);
		open("name/fragile");
		eventually().until(() -> text("[aria-label='Died last'] tbody").contains("99"));
		assertThat(text("#main")).contains("Open the latest");
		assertThat(this.browser.findElements(By.cssSelector("td.wrap bdi"))).hasSize(3);
		press("Delete the tasks with the error java.lang.IllegalStateException: HTTP 50");
		eventually().until(() -> text("#dialog-title").equals("Delete 1 dead task with this error?"));
		click("#dialog-do");
		eventually().until(() -> text("#outcome").equals("1 deleted"));
		eventually().until(() -> this.browser.findElements(By.cssSelector("td.wrap")).size() == 2);
		press("Delete the tasks with the error java.lang.IllegalStateException: HTTP 503");
		eventually().until(() -> text("#dialog-title").equals("Delete 2 dead tasks with this error?"));
		keys(Keys.ESCAPE);
		assertThatAllButtonsFitOntoAPhone();
		this.browser.findElement(By.linkText("99")).click();
		eventually().until(() -> text(".error").length() > 900);
		assertThat(text(".error")).endsWith("\u202etxt.exe");
		assertThat(text(".facts")).contains("Died", "Attempts\n1", "Times begun\n1");
		click("[aria-label='Delete 99']");
		click("#dialog-do");
		eventually().until(() -> text("#main").contains("There is no such task any more"));
		open("name/fragile");
		click("[aria-label='Dead by error'] .title button:last-child");
		eventually().until(() -> text("#dialog-title").equals("Delete all 2 dead tasks of fragile?"));
		click("#dialog-do");
		eventually().until(() -> text("#outcome").equals("2 deleted"));
	}

	private void assertThatAllButtonsFitOntoAPhone() {
		show("dark", 390);
		try {
			assertThat((Boolean) this.browser.executeScript("""
					return [...document.querySelectorAll("td button")].every((button) => {
						const { right } = button.getBoundingClientRect();
						return right <= button.closest(".scroll").getBoundingClientRect().right && right <= innerWidth;
					});
					""")).isTrue();
		}
		finally {
			showAsBefore();
		}
	}

	@Test
	void namesComeInPages() {
		List<TaskId> ids = IntStream.range(0, 150).mapToObj((i) -> TaskId.of("page-" + i, 1)).toList();
		ids.forEach((id) -> this.tasks.schedule(id, Duration.ofHours(1), () -> {
		}));
		open("names");
		type("#filter", "page-");
		eventually().until(() -> text("caption").equals("1 to 100 of 150 names"));
		this.browser.findElement(By.xpath("//button[. = 'Later names']")).click();
		eventually().until(() -> text("caption").equals("101 to 150 of 150 names"));
		this.browser.findElement(By.xpath("//button[. = 'Earlier names']")).click();
		eventually().until(() -> text("caption").equals("1 to 100 of 150 names"));
		ids.forEach(this.tasks::cancel);
	}

	private String order() {
		return field(this.http.post().uri("/orders"), "id");
	}

	private String status(String order) {
		return field(this.http.get().uri("/orders/" + order), "status");
	}

	private static String field(RestTestClient.RequestHeadersSpec<?> request, String field) {
		return String.valueOf(request.exchange().expectBody(Map.class).returnResult().getResponseBody().get(field));
	}

	private String due(String key) {
		return this.browser.findElements(By.cssSelector("tbody tr"))
			.stream()
			.filter((row) -> row.findElement(By.cssSelector("th")).getText().equals(key))
			.map((row) -> row.findElement(By.cssSelector("td")).getText())
			.findFirst()
			.orElse("");
	}

	private void press(String label) {
		click("[aria-label='" + label + "']");
	}

	private void type(String selector, String text) {
		eventually().until(() -> {
			WebElement field = this.browser.findElement(By.cssSelector(selector));
			field.clear();
			field.sendKeys(text);
			return true;
		});
	}

	private List<Double> requests() {
		List<?> times = (List<?>) this.browser.executeScript("""
				return performance.getEntriesByType("resource").filter(({ name }) => name.includes("/live?"))
					.map(({ startTime }) => startTime);
				""");
		return times.stream().map((time) -> ((Number) time).doubleValue()).toList();
	}

	/** The states in the list of all nodes. */
	private List<String> nodeStates() {
		return this.browser.findElements(By.cssSelector("[aria-label='All nodes'] tbody tr td:nth-child(2)"))
			.stream()
			.map(WebElement::getText)
			.toList();
	}

	private String nextRun(String name) {
		List<WebElement> found = this.browser
			.findElements(By.xpath("//tr[th[normalize-space() = '" + name + "']]/td[2]"));
		return found.isEmpty() ? "" : found.get(0).getText();
	}

	private void keys(CharSequence... keys) {
		for (CharSequence key : keys) {
			new Actions(this.browser).sendKeys(key).perform();
		}
	}

	private void tabTo(String property, String value) {
		for (int i = 0; i < 60 && !focused(property).equals(value); i++) {
			keys(Keys.TAB);
		}
		assertThat(focused(property)).isEqualTo(value);
	}

	private String focused(String property) {
		return String.valueOf(this.browser.executeScript("""
				const element = document.activeElement;
				return element.getAttribute(arguments[0]) ?? element[arguments[0]] ?? "";
				""", property));
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class ReportConfiguration {

		final AtomicInteger runs = new AtomicInteger();

		@Recurring(every = "1h", initialDelay = "10m", name = "report")
		void report() {
			this.runs.incrementAndGet();
		}

		@Bean
		Fragile fragile() {
			return new Fragile();
		}

		@Bean
		Gate gate() {
			return new Gate();
		}

	}

	static class Fragile {

		static volatile boolean mended;

		@Delayed(delay = "0s", name = "fragile", key = "#id", durable = true)
		public void fail(int id) {
			if (mended) {
				return;
			}
			throw new IllegalStateException((id < 10) ? "HTTP 50"
					: (id < 20) ? "HTTP 503" : "The file could not be read. ".repeat(33) + "\u202etxt.exe");
		}

	}

	/**
	 * Answers in place of the console, which has the Content-Security-Policy of a strict
	 * application.
	 */
	static final class Gate extends OncePerRequestFilter {

		private static final String POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
				+ " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none';"
				+ " require-trusted-types-for 'script'";

		volatile int status;

		volatile int actionStatus;

		volatile String requestedWith;

		@Override
		protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
				throws ServletException, IOException {
			String path = request.getRequestURI();
			if (!path.contains("/timingwheelconsole")) {
				chain.doFilter(request, response);
				return;
			}
			response.setHeader("Content-Security-Policy", POLICY);
			boolean live = path.endsWith("/live");
			this.requestedWith = live ? request.getHeader("X-Requested-With") : this.requestedWith;
			int answer = live ? this.status : request.getMethod().equals("POST") ? this.actionStatus : 0;
			if (answer == 0) {
				chain.doFilter(request, response);
				return;
			}
			response.setStatus(answer);
			response.setContentType((answer == 200) ? "text/html" : "application/json");
			response.getWriter().write((answer == 200) ? "<p>Log in" : "{\"status\":403,\"error\":\"Forbidden\"}");
		}

	}

}
