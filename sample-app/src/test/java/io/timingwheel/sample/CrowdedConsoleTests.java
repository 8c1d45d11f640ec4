package io.timingwheel.sample;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The console with 1,000 names, 10,000,000 pending tasks, 100,000 dead ones and 40 nodes.
 * The store makes up the figures, and the page may only read.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.endpoint.timingwheelconsole.access=read-only")
@Order(2)
@Tag("measuring")
class CrowdedConsoleTests extends BrowserTests {

	private static final List<String> ACTIONS = List.of("Pause", "Resume", "Pause claims", "Run now", "Move", "Cancel",
			"Requeue", "Delete", "Requeue all", "Delete all");

	@Override
	String motion() {
		return "--force-prefers-no-reduced-motion";
	}

	/** Keeps what takes the page longer than 50 ms at a stretch. */
	@BeforeAll
	void observeLongTasks() {
		this.browser.executeCdpCommand("Page.addScriptToEvaluateOnNewDocument", Map.of("source",
				"""
						window.longTasks = [];
						new PerformanceObserver((list) => window.longTasks.push(...list.getEntries().map((entry) => entry.duration)))
							.observe({ type: "longtask" });
						"""));
	}

	private List<?> longTasks(int millis) {
		this.browser.executeScript("window.longTasks.length = 0");
		double start = now();
		eventually().pollInterval(Duration.ofMillis(200)).until(() -> now() > start + millis);
		return (List<?>) this.browser.executeScript("return window.longTasks");
	}

	@Test
	void theViewsStaySmoothAndTheAnswersSmall() {
		for (String view : List.of("now", "names", "dead", "name/name-000", "node")) {
			open(view);
			eventually().until(() -> text("#state-text").equals("Live"));
			// A busy machine may interrupt the page, so a later span counts too.
			eventually().until(() -> longTasks(2000).isEmpty());
			eventually().untilAsserted(() -> assertThat(largestAnswer()).as(view).isBetween(1_000L, 100_000L));
			assertThat(visibleButtons()).as(view).doesNotContainAnyElementsOf(ACTIONS);
		}
		assertThat(text("#access")).isEqualTo("Read-only");
		open("now");
		eventually().until(() -> text(".figures dd").equals("10M"));
		eventually().until(() -> text("#dead-badge").equals("100,000"));
		assertThat(errors()).isEmpty();
	}

	@Test
	void theDeadAreGroupedPageByPage() {
		open("dead");
		eventually().until(() -> text("#main").matches("(?s).*These groups count [\\d,]+ tasks that died last\\..*"));
		assertThat(this.browser.findElements(By.cssSelector("td.wrap"))).hasSize(20);
		press("Older");
		eventually().until(() -> text("#main").contains(" tasks, not the latest."));
		press("Latest");
		eventually().until(() -> text("#main").contains("that died last."));
		assertThat(errors()).isEmpty();
	}

	private void press(String button) {
		eventually().until(() -> {
			this.browser.findElement(By.xpath("//button[. = '" + button + "']")).click();
			return true;
		});
	}

	private List<String> visibleButtons() {
		return this.browser.findElements(By.cssSelector("main button"))
			.stream()
			.filter(WebElement::isDisplayed)
			.map(WebElement::getText)
			.toList();
	}

	/**
	 * The size of the largest answer with figures, in bytes before compression.
	 */
	private long largestAnswer() {
		return ((Number) this.browser.executeScript(
				"""
						return Math.max(...performance.getEntriesByType("resource").filter(({ name }) => name.includes("/live?"))
							.map(({ decodedBodySize }) => decodedBodySize));
						"""))
			.longValue();
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class StoreConfiguration {

		@Bean
		DelayedTaskStore crowdedStore() {
			return (DelayedTaskStore) Proxy.newProxyInstance(getClass().getClassLoader(),
					new Class<?>[] { DelayedTaskStore.class }, new CrowdedStore());
		}

	}

	/**
	 * A store that nothing is written to.
	 */
	static final class CrowdedStore implements InvocationHandler {

		private static final int NAMES = 1000;

		private static final int DEAD = 100_000;

		private final long start = System.currentTimeMillis();

		private final Map<String, StoredCounts> counts = IntStream.range(0, NAMES)
			.boxed()
			.collect(Collectors.toMap("name-%03d"::formatted,
					(i) -> new StoredCounts(10_000, i % 3, i % 5, (i == 0) ? DEAD : 0, true)));

		@Override
		public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
			return switch (method.getName()) {
				case "counts" -> this.counts;
				case "forecast" -> forecast((Forecast.Query) arguments[0]);
				case "nodes" -> IntStream.range(0, 40)
					.mapToObj((i) -> new NodeState.Reported(
							new NodeState("node-" + i, (i % 7 != 0) ? Activity.CLAIMING : Activity.PAUSED, 10 * i),
							Duration.ofMillis(450L * i)))
					.toList();
				case "list" -> list((ListQuery) arguments[0]);
				case "claim" -> new Claimed(List.of(), now(), Long.MAX_VALUE, Long.MAX_VALUE, false, false, Set.of());
				case "find" -> Optional.empty();
				case "joinsTransaction" -> false;
				case "now" -> now();
				case "hashCode" -> System.identityHashCode(proxy);
				case "equals" -> proxy == arguments[0];
				case "toString" -> "crowded store";
				default -> invokeDefault(proxy, method, arguments);
			};
		}

		private static Object invokeDefault(Object proxy, Method method, Object[] arguments) throws Throwable {
			return InvocationHandler.invokeDefault(proxy, method, arguments);
		}

		private static long now() {
			return System.currentTimeMillis();
		}

		private static Forecast forecast(Forecast.Query query) {
			return new Forecast(now(),
					query.pending()
						.keySet()
						.stream()
						.collect(Collectors.toMap((name) -> name,
								(name) -> new DueCounts(LongStream.range(0, query.spans())
									.mapToObj((i) -> Math.floorMod(name.hashCode() * (i + 3), 500L))
									.toList(), true))));
		}

		/**
		 * A page of the pending tasks, or of the dead, of which one dies each 10 ms.
		 */
		private ListQuery.Page list(ListQuery query) {
			if (query.order() == ListQuery.Order.PENDING) {
				return new ListQuery.Page(IntStream.range(0, 100)
					.mapToObj((i) -> new StoredTask("task-" + i, query.name(), "key-" + i,
							this.start + 60_000 + 1000L * i, State.SCHEDULED, 1, 0, null, null, null))
					.toList(), false);
			}
			if (this.counts.getOrDefault(query.name(), StoredCounts.NONE).dead() == 0) {
				return new ListQuery.Page(List.of(), false);
			}
			StoredTask.Position after = query.after();
			int from = (after != null) ? Integer.parseInt(after.id()) + 1 : 0;
			int end = Math.min(DEAD, from + query.limit());
			return new ListQuery.Page(IntStream.range(from, end)
				.mapToObj((i) -> new StoredTask(String.valueOf(i), query.name(), "key-" + i, this.start, State.DEAD, 1,
						1, error(i), null, this.start - 10L * i))
				.toList(), end < DEAD);
		}

		private static String error(int number) {
			return "java.lang.IllegalStateException: The server answers " + (500 + number % 20) + " " + "x".repeat(200);
		}

	}

}
