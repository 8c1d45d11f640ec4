package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.DuplicateTaskException;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.MemoryTaskReader;
import jakarta.annotation.PostConstruct;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** What the attributes of {@code @Delayed} do. */
@ExtendWith(OutputCaptureExtension.class)
class DelayedTests {

	private static final Queue<CompletableFuture<String>> futures = new ArrayDeque<>();

	@RegisterExtension
	static final VirtualApplication app = application();

	private static VirtualApplication application() {
		return VirtualApplication.of(Settings.class, OrderSettings.class, Orders.class)
			.with("window=5m", "orders.name=close-order", "orders.grace=7m");
	}

	@Test
	void theAttributesSayTheNameTheKeyAndTheDueTime(Orders orders) {
		Instant now = app.now();
		assertScheduled(() -> orders.run(1), "orders.run null in PT30S");
		assertScheduled(() -> orders.heartbeat("a", 1), "driver-silent a in PT10S");
		assertScheduled(orders::placeholder, "orders.placeholder null in PT5M");
		assertScheduled(() -> orders.close(5), "close-order 5 in PT7M");
		assertScheduled(() -> orders.at(Duration.ofSeconds(5)), "orders.at null in PT5S");
		assertScheduled(() -> orders.at(7_000), "orders.at null in PT7S");
		assertScheduled(() -> orders.at(9_000.5), "orders.at null in PT9.0005S");
		assertScheduled(() -> orders.at(now.plusSeconds(3600)), "orders.at null in PT1H");
		assertScheduled(() -> orders.largest(List.of(1, 2), Duration.ofHours(1)), "orders.largest null in PT1H0.002S");
		orders.at(Duration.ofSeconds(-1));
		orders.at(Instant.EPOCH);
		app.advanceSeconds(0);
		assertThat(app.calls()).containsExactlyInAnyOrder("at PT-1S", "at 1970-01-01T00:00:00Z");
	}

	private static void assertScheduled(Runnable call, String task) {
		call.run();
		DelayedTaskRegistry registry = app.bean(DelayedTaskRegistry.class);
		assertThat(new MemoryTaskReader(registry).page(task.substring(0, task.indexOf(' ')), null, 10))
			.extracting((pending) -> "%s %s in %s".formatted(pending.name(), pending.key(),
					Duration.between(app.now(), pending.dueAt())))
			.containsExactly(task);
		registry.atShutdown().cancelPending();
	}

	@Test
	void theNameOfABeanCanBeCancelledAndACallBeforeTheEndOfTheStartResolvesIt(Orders orders) {
		orders.close(5);
		orders.pay(5);
		assertThat(app.pending()).isZero();
		try (VirtualApplication calling = application().with(EarlyCaller.class)) {
			assertThat(calling.tasks().find(TaskId.of("close-order", 1))).isPresent();
		}
	}

	@Test
	void theBodyRunsWhenItsTimeHasComeOncePerKeyOrForEachCallWithoutAKey(Orders orders) {
		orders.run(1);
		orders.run(1);
		orders.heartbeat("a", 1);
		orders.heartbeat("b", 2);
		app.advanceSeconds(9);
		orders.heartbeat("a", 3);
		app.advance(Duration.ofSeconds(10).minusNanos(1));
		assertThat(app.calls()).containsExactly("silent b 2");
		app.advance(Duration.ofNanos(1));
		assertThat(app.calls()).containsExactly("silent b 2", "silent a 3");
		app.advanceSeconds(11);
		assertThat(app.calls()).endsWith("run 1", "run 1").hasSize(4);
	}

	@Test
	void theAnnotationSaysWhatAPendingTaskDoesToACallAndHowLongCallsMayPutItOff(Orders orders) {
		orders.reject("a");
		assertThatExceptionOfType(DuplicateTaskException.class).isThrownBy(() -> orders.reject("a"));
		for (int second = 0; second < 12; second += 4) {
			orders.keep("a", second);
			orders.debounce("a", second);
			app.advanceSeconds(4);
		}
		assertThat(app.calls()).containsExactlyInAnyOrder("reject a", "keep a 0", "debounce a 8");
	}

	@Test
	void tasksThatWouldStartTooLateAreDroppedAndCountedAsExpired(Orders orders) {
		orders.perishable();
		DelayedTask<String> result = orders.perishableResult();
		DelayedTaskRegistry registry = app.bean(DelayedTaskRegistry.class);
		List<String> names = List.of("orders.perishable", "orders.perishableResult");
		names.forEach((name) -> registry.setPaused(name, true));
		app.advance(Duration.ofMinutes(7).plusSeconds(11));
		assertThat(result.status()).isEqualTo(DelayedTask.Status.SCHEDULED);
		names.forEach((name) -> registry.setPaused(name, false));
		app.advanceSeconds(0);
		assertThat(app.calls()).isEmpty();
		assertThat(app.counts("orders.perishable").expired()).isOne();
		assertThat(result.isCancelled()).isTrue();
	}

	@Test
	void aTaskThatHasExpiredWhileItWaitedDoesNotCountForTheRate(Orders orders) {
		for (int i = 0; i < 3; i++) {
			orders.rated();
		}
		app.advanceSeconds(50);
		orders.rated();
		app.advanceSeconds(1);
		assertThat(app.calls()).containsExactly("rated");
		app.advanceSeconds(11);
		assertThat(app.calls()).containsExactly("rated", "rated");
		assertThat(app.counts("orders.rated").expired()).isEqualTo(2);
	}

	@Test
	void aBodyHoldsItsPlaceUntilItsFutureEndsAndIsTriedAgainIfTheFutureFails(Orders orders) {
		DelayedTask<?> first = (DelayedTask<?>) orders.send();
		CompletableFuture<String> result = orders.send();
		DelayedTask<?> second = (DelayedTask<?>) result;
		app.advanceSeconds(1);
		assertThat(first.status()).isEqualTo(Status.RUNNING);
		assertThat(second.status()).isEqualTo(Status.SCHEDULED);
		futures.remove().complete("sent");
		app.advanceSeconds(0);
		assertThat(first.status()).isEqualTo(Status.SUCCEEDED);
		assertThat(second.status()).isEqualTo(Status.RUNNING);
		futures.remove().completeExceptionally(new IllegalStateException("first"));
		app.advanceSeconds(1);
		futures.remove().complete("sent");
		assertThat(result).isCompletedWithValue("sent");
	}

	@Test
	void eachAttemptPassesAllOtherAdviceAndOnlyTheLastFailureIsHandled(Orders orders, CapturedOutput output) {
		orders.fail("a");
		app.advanceSeconds(1);
		app.advanceSeconds(2);
		assertThat(app.calls()).containsExactly("advice a", "advice a");
		app.advanceSeconds(2);
		assertThat(app.calls()).containsExactly("advice a", "advice a", "advice a", "handled no 3");
		assertThat(app.pending()).isZero();
		assertThat(output.toString().lines().filter((line) -> line.contains("WARN"))).hasSize(1)
			.allMatch((line) -> line.contains("Attempt 1 of 3 of the task \"orders.fail\" failed"));
	}

	@Test
	void wrongArgumentsAreErrorsOfTheCaller(Orders orders) {
		assertThatIllegalArgumentException().isThrownBy(() -> orders.heartbeat(null, 1))
			.withMessageContaining("#driver")
			.withMessageContaining("Orders#heartbeat(String, int)")
			.withMessageContaining("must not be null");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.close(orders))
			.withMessageContaining("The expression \"#id\" of @Delayed(key) on ")
			.withMessageContaining("has no text of its own");
		for (Object bad : new Object[] { null, new byte[0] }) {
			assertThatIllegalArgumentException().isThrownBy(() -> orders.pay(bad))
				.withMessageContaining("The expression \"#id\" of @CancelDelayed(key) on ");
		}
		for (Object bad : new Object[] { Double.NaN, Double.POSITIVE_INFINITY, "soon", new Object() }) {
			assertThatIllegalArgumentException().isThrownBy(() -> orders.at(bad))
				.withMessageContaining("The expression \"#when\" of @Delayed(delayExpression) on "
						+ Orders.class.getName() + "#at(Object)")
				.withMessageContaining(
						"must give a Duration, a text such as 30s, a number of milliseconds or an Instant");
		}
		assertThatIllegalArgumentException().isThrownBy(() -> orders.at(null)).withMessageContaining("\"null\"");
		assertThatIllegalArgumentException().isThrownBy(() -> orders.largest(List.of(1), null))
			.withMessageContaining("Orders#largest(List, Duration) cannot be evaluated: ");
		assertThat(app.pending()).isZero();
	}

	@Configuration(proxyBeanMethods = false)
	static class Settings {

		@Bean
		AsyncUncaughtExceptionHandler exceptionHandler() {
			return (ex, method, arguments) -> app.calls().add("handled " + ex.getMessage());
		}

		@Bean
		@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
		static DefaultPointcutAdvisor advisor() {
			NameMatchMethodPointcut pointcut = new NameMatchMethodPointcut();
			pointcut.addMethodName("fail");
			return new DefaultPointcutAdvisor(pointcut, (MethodInterceptor) (invocation) -> {
				app.calls().add("advice " + invocation.getArguments()[0]);
				return invocation.proceed();
			});
		}

	}

	/** A bean whose values Spring sets after it is created. */
	public static class OrderSettings {

		@Value("${orders.name}")
		public String name;

		@Value("${orders.grace}")
		public String grace;

	}

	record EarlyCaller(Orders orders) {

		@PostConstruct
		void call() {
			this.orders.close(1);
		}

	}

	static class Orders {

		private int attempts;

		@Delayed("30s")
		public void run(long id) {
			app.calls().add("run " + id);
		}

		@Delayed(delay = "PT10S", name = "driver-silent", key = "#driver")
		public void heartbeat(@Nullable String driver, int report) {
			app.calls().add("silent " + driver + " " + report);
		}

		@Delayed("${window:1m}")
		public void placeholder() {
		}

		@Delayed(delay = "#{@orderSettings.grace}", name = "#{@orderSettings.name}", key = "#id")
		public void close(Object id) {
		}

		@CancelDelayed(name = "#{@orderSettings.name}", key = "#id")
		public void pay(@Nullable Object id) {
		}

		@Delayed(delayExpression = "#when")
		public void at(@Nullable Object when) {
			app.calls().add("at " + when);
		}

		@Delayed(delayExpression = "#delay.plus(T(java.time.Duration).ofMillis(#numbers.?[#this > 1][0]))")
		public void largest(List<Integer> numbers, @Nullable Duration delay) {
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.KEEP)
		public void keep(String id, int n) {
			app.calls().add("keep " + id + " " + n);
		}

		@Delayed(delay = "10s", key = "#id", ifPending = IfPending.REJECT)
		public void reject(String id) {
			app.calls().add("reject " + id);
		}

		@Delayed(delay = "10s", key = "#id", maxWait = "12s")
		public void debounce(String id, int n) {
			app.calls().add("debounce " + id + " " + n);
		}

		@Delayed(delay = "10s", expireAfter = "#{@orderSettings.grace}")
		public void perishable() {
			app.calls().add("perishable");
		}

		@Delayed(delay = "10s", expireAfter = "5s")
		public DelayedTask<String> perishableResult() {
			app.calls().add("fresh");
			return DelayedTask.completed("fresh");
		}

		@Delayed(delay = "1s", expireAfter = "30s", policy = @TaskPolicy(rate = "1/m"))
		public void rated() {
			app.calls().add("rated");
		}

		@Delayed(delay = "1s", policy = @TaskPolicy(maxAttempts = 2, maxConcurrent = 1,
				backoff = @Backoff(initial = "1s", jitter = 0)))
		public CompletableFuture<String> send() {
			CompletableFuture<String> future = new CompletableFuture<>();
			futures.add(future);
			return future;
		}

		@Delayed(delay = "1s",
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "2s", multiplier = 1, jitter = 0)))
		public void fail(String argument) {
			throw new IllegalStateException("no " + ++this.attempts);
		}

	}

}
