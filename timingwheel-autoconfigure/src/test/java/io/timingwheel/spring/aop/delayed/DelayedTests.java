package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.TaskCounts;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.task.TaskRejectedException;
import org.springframework.test.util.AopTestUtils;

import static io.timingwheel.spring.aop.delayed.DelayedContexts.advance;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.advanceAndAwait;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.counts;
import static io.timingwheel.spring.aop.delayed.DelayedContexts.pending;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

class DelayedTests {

	private final ApplicationContextRunner runner = DelayedContexts.runner().withBean("orders", Orders.class);

	@Test
	void theCallReturnsAtOnceAndTheBodyRunsAfterTheDelayOnTheExecutor() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			assertThat(body(orders).calls).isEmpty();
			advance(context, Duration.ofSeconds(29));
			assertThat(pending(context)).isOne();
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(body(orders).calls).containsExactly("close 1");
			assertThat(body(orders).threads).allMatch((name) -> name.startsWith("task-"));
			assertThat(counts(context, "orders.close")).isEqualTo(new TaskCounts(0, 0, 1, 0, 0, 0, 0, 0));
		});
	}

	@Test
	void withoutAKeyEachCallIsATaskOfItsOwn() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.close(1);
			orders.close(1);
			assertThat(pending(context)).isEqualTo(2);
			advanceAndAwait(context, Duration.ofSeconds(31));
			assertThat(body(orders).calls).containsExactly("close 1", "close 1");
		});
	}

	@Test
	void everyCallWithAKeyRestartsTheClockAndTheNewestArgumentsCount() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			for (int i = 0; i < 5; i++) {
				orders.heartbeat("a", i);
				orders.heartbeat("b", 10 * i);
				advanceAndAwait(context, Duration.ofSeconds(9));
			}
			assertThat(pending(context)).isEqualTo(2);
			assertThat(context.getBean(TimingWheel.class).pending()).isEqualTo(2);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(body(orders).calls).containsExactlyInAnyOrder("silent a 4", "silent b 40");
			assertThat(counts(context, "driver-silent")).isEqualTo(new TaskCounts(0, 0, 2, 0, 0, 0, 8, 0));
		});
	}

	@Test
	void keepLeavesTheFirst() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.keep("a", 1);
			advance(context, Duration.ofSeconds(9));
			orders.keep("a", 2);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(body(orders).calls).containsExactly("keep a 1");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void rejectThrowsToTheCaller() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.reject("a");
			assertThatExceptionOfType(DuplicateTaskException.class).isThrownBy(() -> orders.reject("a"));
			orders.reject("b");
			assertThat(pending(context)).isEqualTo(2);
		});
	}

	@Test
	void aNullKeyIsAnErrorOfTheCaller() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			assertThatIllegalArgumentException().isThrownBy(() -> orders.heartbeat(null, 1))
				.withMessageContaining("#driver")
				.withMessageContaining("Orders#heartbeat(String, int)")
				.withMessageContaining("must not be null");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void theDelayMayDependOnTheArguments() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.at(Duration.ofSeconds(5));
			orders.at(7_000);
			orders.at(9_000.5);
			orders.at(Instant.now().plus(Duration.ofHours(1)));
			orders.at(Duration.ofSeconds(-1));
			orders.at(Instant.EPOCH);
			assertThat(pending(context)).isEqualTo(6);
			advanceAndAwait(context, Duration.ZERO);
			assertThat(pending(context)).isEqualTo(4);
			advanceAndAwait(context, Duration.ofSeconds(6));
			assertThat(pending(context)).isEqualTo(3);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(pending(context)).isEqualTo(2);
			advanceAndAwait(context, Duration.ofSeconds(2));
			assertThat(pending(context)).isOne();
			advanceAndAwait(context, Duration.ofHours(2));
			assertThat(body(orders).calls).hasSize(6);
		});
	}

	@Test
	void aBadDelayAtACallIsAnErrorOfTheCaller() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			for (Object bad : new Object[] { Double.NaN, Double.POSITIVE_INFINITY, "30s", new Object() }) {
				assertThatIllegalArgumentException().isThrownBy(() -> orders.at(bad))
					.withMessageContaining("The delayExpression \"#when\" of " + Orders.class.getName() + "#at(Object)")
					.withMessageContaining("must give a Duration, a number of milliseconds or an Instant");
			}
			assertThatIllegalArgumentException().isThrownBy(() -> orders.at(null)).withMessageEndingWith(": null");
			assertThat(pending(context)).isZero();
		});
	}

	@Test
	void delaysAreResolvedFromPropertiesAndBeans() {
		// The context reads the wall clock when it starts.
		Instant start = Instant.now();
		this.runner.withPropertyValues("window=5m")
			.withBean("policy", Duration.class, () -> Duration.ofMinutes(7))
			.withBean("settings", Settings.class)
			.run((context) -> {
				DelayedTaskTemplate template = context.getBean(DelayedTaskTemplate.class);
				Settings settings = context.getBean(Settings.class);
				settings.placeholder("a");
				settings.bean("a");
				Instant now = Instant.now();
				assertThat(template.find(TaskId.of("settings.placeholder", "a")).orElseThrow().dueAt())
					.isBetween(start.plusSeconds(299), now.plusSeconds(301));
				assertThat(template.find(TaskId.of("settings.bean", "a")).orElseThrow().dueAt())
					.isBetween(start.plusSeconds(419), now.plusSeconds(421));
			});
	}

	@Test
	void tasksThatWouldStartTooLateAreDroppedAndCountedAsExpired() {
		this.runner.withPropertyValues("spring.task.execution.pool.core-size=1").run((context) -> {
			Orders orders = context.getBean(Orders.class);
			body(orders).blockers.acquire();
			orders.block();
			advance(context, Duration.ofSeconds(1));
			await().until(() -> context.getBean(DelayedTaskRegistry.class).runningCount() == 1);
			orders.perishable(1);
			DelayedTask<String> result = orders.perishableResult();
			advance(context, Duration.ofSeconds(10));
			advance(context, Duration.ofSeconds(6));
			body(orders).blockers.release();
			DelayedContexts.awaitIdle(context);
			assertThat(body(orders).calls).containsExactly("block");
			assertThat(counts(context, "orders.perishable").expired()).isOne();
			await().until(result::isCancelled);
			orders.perishable(2);
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(body(orders).calls).containsExactly("block", "perishable 2");
		});
	}

	@Test
	void declaredNamesAreListedBeforeTheirFirstCall() {
		this.runner.run((context) -> {
			DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
			assertThat(tasks.names()).contains("driver-silent", "orders.close", "orders.keep");
			assertThat(tasks.counts("driver-silent")).isEqualTo(new TaskCounts(0, 0, 0, 0, 0, 0, 0, 0));
		});
	}

	@Test
	void afterShutdownTheCallIsRejectedAndPendingFuturesAreCancelled() {
		List<Orders> beans = new CopyOnWriteArrayList<>();
		List<DelayedTask<String>> results = new CopyOnWriteArrayList<>();
		this.runner.run((context) -> {
			beans.add(context.getBean(Orders.class));
			results.add(beans.get(0).perishableResult());
		});
		assertThat(results.get(0).isCancelled()).isTrue();
		assertThatExceptionOfType(TaskRejectedException.class).isThrownBy(() -> beans.get(0).close(1))
			.withMessageContaining("shutting down");
	}

	@Test
	void theBodyKnowsItsTask() {
		this.runner.run((context) -> {
			Orders orders = context.getBean(Orders.class);
			orders.heartbeat("a", 1);
			String id = context.getBean(DelayedTaskRegistry.class).memoryTasks().first("driver-silent", 10).get(0).id();
			advanceAndAwait(context, Duration.ofSeconds(11));
			assertThat(body(orders).contexts).hasSize(1);
			assertThat(body(orders).contexts.get(0).id()).isEqualTo(id);
			assertThat(body(orders).contexts.get(0).taskId()).isEqualTo(TaskId.of("driver-silent", "a"));
		});
	}

	/**
	 * The object behind the proxy.
	 */
	private static <T> T body(T bean) {
		return AopTestUtils.getTargetObject(bean);
	}

	static class Orders {

		final List<String> calls = new CopyOnWriteArrayList<>();

		final List<String> threads = new CopyOnWriteArrayList<>();

		final List<DelayedTaskContext> contexts = new CopyOnWriteArrayList<>();

		final Semaphore blockers = new Semaphore(1);

		@Delayed("30s")
		public void close(long id) {
			record("close " + id);
		}

		@Delayed(delay = "PT10S", name = "driver-silent", key = "#driver")
		public void heartbeat(@Nullable String driver, int report) {
			DelayedTaskContext.current().ifPresent(this.contexts::add);
			record("silent " + driver + " " + report);
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.KEEP)
		public void keep(String id, int n) {
			record("keep " + id + " " + n);
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.REJECT)
		public void reject(String id) {
			record("reject " + id);
		}

		@Delayed(delayExpression = "#when")
		public void at(@Nullable Object when) {
			record("at " + when);
		}

		@Delayed(delay = "10s", expireAfter = "5s")
		public void perishable(int n) {
			record("perishable " + n);
		}

		@Delayed(delay = "10s", expireAfter = "5s")
		public DelayedTask<String> perishableResult() {
			return DelayedTask.completed("fresh");
		}

		@Delayed("0")
		public void block() throws InterruptedException {
			this.blockers.acquire();
			this.blockers.release();
			record("block");
		}

		private void record(String call) {
			this.threads.add(Thread.currentThread().getName());
			this.calls.add(call);
		}

	}

	static class Settings {

		@Delayed(delay = "${window:1m}", key = "#id")
		public void placeholder(String id) {
		}

		@Delayed(delay = "#{policy}", key = "#id")
		public void bean(String id) {
		}

	}

}
