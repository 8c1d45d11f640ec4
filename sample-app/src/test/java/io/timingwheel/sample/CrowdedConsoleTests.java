package io.timingwheel.sample;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.Forecast.DueCounts;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.NodeState.Activity;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.State;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.WebElement;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.BDDMockito.willReturn;
import static org.mockito.Mockito.CALLS_REAL_METHODS;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.withSettings;

/**
 * The console with 1,000 names, 10,000,000 pending tasks, 100,000 dead ones and 40 nodes.
 * The store makes up the figures, and the page may only read.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = "management.endpoint.timingwheelconsole.access=read-only")
@Order(2)
@Tag("faults")
class CrowdedConsoleTests extends BrowserTests {

	private static final List<String> ACTIONS = List.of("Pause", "Resume", "Pause claims", "Run now", "Move", "Cancel",
			"Requeue", "Delete", "Requeue all", "Delete all");

	@Test
	void theAnswersStaySmallAndNobodyWhoMayOnlyReadSeesAnAction() {
		for (String view : List.of("now", "names", "dead", "name/name-000", "node")) {
			open(view);
			eventually().until(() -> text("#state-text").equals("Live"));
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

		private static final int DEAD = 100_000;

		private final long start = System.currentTimeMillis();

		private final Map<String, StoredCounts> counts = IntStream.range(0, 1000)
			.boxed()
			.collect(Collectors.toMap("name-%03d"::formatted,
					(i) -> new StoredCounts(10_000, i % 3, i % 5, (i == 0) ? DEAD : 0, true)));

		/** Nothing is written to it. */
		@Bean
		DelayedTaskStore crowdedStore() {
			DelayedTaskStore store = mock(DelayedTaskStore.class,
					withSettings().stubOnly().defaultAnswer(CALLS_REAL_METHODS));
			willAnswer((call) -> System.currentTimeMillis()).given(store).now();
			willReturn(this.counts).given(store).counts(any());
			willReturn(IntStream.range(0, 40)
				.mapToObj((i) -> new NodeState("node-" + i, (i % 2 == 0) ? Activity.CLAIMING : Activity.PAUSED, 10))
				.map((state) -> new NodeState.Reported(state, Duration.ofSeconds(1)))
				.toList()).given(store).nodes();
			willAnswer((call) -> new Claimed(List.of(), store.now(), Long.MAX_VALUE, Long.MAX_VALUE, false, false,
					Set.of()))
				.given(store)
				.claim(any());
			willAnswer((call) -> forecast(call.getArgument(0), store.now())).given(store).forecast(any());
			willAnswer((call) -> list(call.getArgument(0))).given(store).list(any());
			return store;
		}

		private static Forecast forecast(Forecast.Query query, long now) {
			DueCounts counts = new DueCounts(Collections.nCopies(query.spans(), 499L), true);
			return new Forecast(now,
					query.pending().keySet().stream().collect(Collectors.toMap((name) -> name, (name) -> counts)));
		}

		/**
		 * A page of the pending tasks, or of the dead, of which one dies each 10 ms.
		 */
		private ListQuery.Page list(ListQuery query) {
			boolean pending = query.order() == ListQuery.Order.PENDING;
			int all = pending ? 100 : (int) this.counts.getOrDefault(query.name(), StoredCounts.NONE).dead();
			StoredTask.Position after = query.after();
			int from = (after != null) ? Integer.parseInt(after.id()) + 1 : 0;
			int end = Math.min(all, from + query.limit());
			return new ListQuery.Page(
					IntStream.range(from, end)
						.mapToObj((i) -> new StoredTask(String.valueOf(i), query.name(), "key-" + i, this.start,
								pending ? State.SCHEDULED : State.DEAD, 1, 1,
								"java.lang.IllegalStateException: The server answers " + (500 + i % 20) + " "
										+ "x".repeat(200),
								null, pending ? null : Long.valueOf(this.start - 10L * i)))
						.toList(),
					end < all);
		}

	}

}
