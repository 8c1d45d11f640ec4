package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.List;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.core.task.TaskRejectedException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What a call of a method with {@code @Delayed} schedules.
 */
class DelayedTests {

	@RegisterExtension
	static final VirtualApplication app = application();

	private static VirtualApplication application() {
		return VirtualApplication.of(Orders.class)
			.with("window=5m")
			.with("policy", Duration.class, () -> Duration.ofMinutes(7));
	}

	@Test
	void theAttributesSayTheNameTheKeyAndTheDueTime(Orders orders) {
		Instant now = app.now();
		assertScheduled(() -> orders.close(1), "orders.close null in PT30S");
		assertScheduled(() -> orders.heartbeat("a", 1), "driver-silent a in PT10S");
		assertScheduled(orders::placeholder, "orders.placeholder null in PT5M");
		assertScheduled(orders::bean, "orders.bean null in PT7M");
		assertScheduled(() -> orders.at(Duration.ofSeconds(5)), "orders.at null in PT5S");
		assertScheduled(() -> orders.at(7_000), "orders.at null in PT7S");
		assertScheduled(() -> orders.at(9_000.5), "orders.at null in PT9.0005S");
		assertScheduled(() -> orders.at(now.plusSeconds(3600)), "orders.at null in PT1H");
		orders.at(Duration.ofSeconds(-1));
		orders.at(Instant.EPOCH);
		app.advanceSeconds(0);
		assertThat(app.calls()).containsExactlyInAnyOrder("at PT-1S", "at 1970-01-01T00:00:00Z");
	}

	private static void assertScheduled(Runnable call, String task) {
		call.run();
		DelayedTaskRegistry registry = app.bean(DelayedTaskRegistry.class);
		assertThat(registry.memoryTasks().page(task.substring(0, task.indexOf(' ')), null, 10))
			.extracting((pending) -> "%s %s in %s".formatted(pending.name(), pending.key(),
					Duration.between(app.now(), pending.dueAt())))
			.containsExactly(task);
		registry.atShutdown().cancelPending();
	}

	@Test
	void theBodyRunsWhenItsTimeHasComeAndKnowsItsTask(Orders orders) {
		orders.heartbeat("a", 1);
		String id = app.tasks().find(TaskId.of("driver-silent", "a")).orElseThrow().id();
		app.advance(Duration.ofSeconds(10).minusNanos(1));
		assertThat(app.calls()).isEmpty();
		app.advance(Duration.ofNanos(1));
		assertThat(app.calls()).containsExactly("silent a 1", "of " + id);
	}

	@Test
	void withoutAKeyEachCallIsATaskOfItsOwn(Orders orders) {
		orders.close(1);
		orders.close(1);
		app.advanceSeconds(30);
		assertThat(app.calls()).containsExactly("close 1", "close 1");
	}

	@Test
	void everyCallWithAKeyRestartsTheClockAndTheNewestArgumentsCount(Orders orders) {
		long replaced = app.counts("driver-silent").replaced();
		for (int i = 0; i < 5; i++) {
			orders.heartbeat("a", i);
			orders.heartbeat("b", 10 * i);
			app.advanceSeconds(9);
		}
		assertThat(app.timers()).isEqualTo(2);
		app.advanceSeconds(1);
		assertThat(app.calls()).contains("silent a 4", "silent b 40").hasSize(4);
		assertThat(app.counts("driver-silent").replaced() - replaced).isEqualTo(8);
	}

	@Test
	void keepLeavesTheFirst(Orders orders) {
		orders.keep("a", 1);
		app.advanceSeconds(9);
		orders.keep("a", 2);
		app.advanceSeconds(1);
		assertThat(app.calls()).containsExactly("keep a 1");
		assertThat(app.pending()).isZero();
	}

	@Test
	void rejectThrowsToTheCaller(Orders orders) {
		orders.reject("a");
		assertThatExceptionOfType(DuplicateTaskException.class).isThrownBy(() -> orders.reject("a"));
		orders.reject("b");
		assertThat(app.pending()).isEqualTo(2);
	}

	@Test
	void tasksThatWouldStartTooLateAreDroppedAndCountedAsExpired(Orders orders) {
		orders.perishable(1);
		DelayedTask<String> result = orders.perishableResult();
		DelayedTaskRegistry registry = app.bean(DelayedTaskRegistry.class);
		List<String> names = List.of("orders.perishable", "orders.perishableResult");
		names.forEach((name) -> registry.setPaused(name, true));
		app.advanceSeconds(16);
		names.forEach((name) -> registry.setPaused(name, false));
		app.advanceSeconds(0);
		assertThat(app.calls()).isEmpty();
		assertThat(app.counts("orders.perishable").expired()).isOne();
		assertThat(result.isCancelled()).isTrue();
		orders.perishable(2);
		app.advanceSeconds(10);
		assertThat(app.calls()).containsExactly("perishable 2");
	}

	@Test
	void wrongArgumentsAreErrorsOfTheCaller(Orders orders) {
		assertThatIllegalArgumentException().isThrownBy(() -> orders.heartbeat(null, 1))
			.withMessageContaining("#driver")
			.withMessageContaining("Orders#heartbeat(String, int)")
			.withMessageContaining("must not be null");
		for (Object bad : new Object[] { Double.NaN, Double.POSITIVE_INFINITY, "soon", new Object() }) {
			assertThatIllegalArgumentException().isThrownBy(() -> orders.at(bad))
				.withMessageContaining("The expression \"#when\" of @Delayed(delayExpression) on "
						+ Orders.class.getName() + "#at(Object)")
				.withMessageContaining("must give a Duration, a number of milliseconds or an Instant");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> orders.at(null)).withMessageContaining("\"null\"");
		assertThat(app.pending()).isZero();
	}

	@Test
	void declaredNamesAreListedBeforeTheirFirstCall() {
		try (VirtualApplication fresh = application()) {
			DelayedTaskRegistry tasks = fresh.bean(DelayedTaskRegistry.class);
			assertThat(tasks.names()).contains("driver-silent", "orders.close", "orders.keep");
			assertThat(tasks.counts("driver-silent")).isEqualTo(new TaskCounts(0, 0, 0, 0, 0, 0, 0, 0));
		}
	}

	@Test
	void afterShutdownTheCallIsRejectedAndPendingFuturesAreCancelled() {
		VirtualApplication ending = application();
		Orders orders = ending.bean(Orders.class);
		DelayedTask<String> result = orders.perishableResult();
		ending.close();
		assertThat(result.isCancelled()).isTrue();
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> orders.close(1))
			.withMessageContaining("shutting down");
	}

	static class Orders {

		@Delayed("30s")
		public void close(long id) {
			app.calls().add("close " + id);
		}

		@Delayed(delay = "PT10S", name = "driver-silent", key = "#driver")
		public void heartbeat(@Nullable String driver, int report) {
			app.calls().add("silent " + driver + " " + report);
			app.calls().add("of " + DelayedTaskContext.current().orElseThrow().id());
		}

		@Delayed("${window:1m}")
		public void placeholder() {
		}

		@Delayed("#{policy}")
		public void bean() {
		}

		@Delayed(delayExpression = "#when")
		public void at(@Nullable Object when) {
			app.calls().add("at " + when);
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.KEEP)
		public void keep(String id, int n) {
			app.calls().add("keep " + id + " " + n);
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.REJECT)
		public void reject(String id) {
		}

		@Delayed(delay = "10s", expireAfter = "5s")
		public void perishable(int n) {
			app.calls().add("perishable " + n);
		}

		@Delayed(delay = "10s", expireAfter = "5s")
		public DelayedTask<String> perishableResult() {
			app.calls().add("fresh");
			return DelayedTask.completed("fresh");
		}

	}

}
