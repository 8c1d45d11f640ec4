package io.timingwheel.spring.autoconfigure;

import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The threads that a context starts end with it.
 */
class ThreadsOfTheContextTests {

	private static final int POOL_SIZE = 2;

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class))
		.withPropertyValues("spring.task.execution.pool.core-size=" + POOL_SIZE)
		.withBean(Service.class);

	@Test
	void noThreadOutlivesTheContext() {
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		ApplicationContextRunner withStore = this.runner
			.withConfiguration(AutoConfigurations.of(TimingWheelJdbcStoreAutoConfiguration.class,
					DataSourceAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class))
			.withPropertyValues("timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID())
			.withBean("blocking", Executor.class, () -> Runnable::run)
			.withBean(Reports.class);
		withStore.run((context) -> {
			context.getBean(Reports.class).report();
			context.getBean(Reports.class).onBlockingExecutor().get(60, TimeUnit.SECONDS);
			Reports.written.await(60, TimeUnit.SECONDS);
			Service service = context.getBean(Service.class);
			assertTimesOut(() -> service.sleeping(1_000));
			await().untilAsserted(() -> {
				// There is no completion if the call itself takes as long as its limit.
				assertTimesOut(() -> service.future().join());
				assertThat(threads("timing-wheel-completion-")).isNotEmpty();
			});
			assertThat(threads("timeout-stacks")).isNotEmpty();
			assertThat(threads("timing-wheel-hand-over-")).isNotEmpty();
		});
		await().untilAsserted(() -> assertThat(
				Thread.getAllStackTraces().keySet().stream().filter((thread) -> !before.contains(thread)))
			.extracting(Thread::getName)
			.noneMatch((name) -> name.startsWith("tim") || name.startsWith("delayed-") || name.startsWith("task-")));
	}

	private static List<Thread> threads(String prefix) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith(prefix))
			.toList();
	}

	private static void assertTimesOut(Callable<?> call) {
		assertThatExceptionOfType(Exception.class).isThrownBy(call::call)
			.matches((ex) -> ex instanceof MethodTimeoutException || ex.getCause() instanceof MethodTimeoutException);
	}

	static class Service {

		@Timeout("20ms")
		public CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

		@Timeout("20ms")
		public String sleeping(long millis) throws InterruptedException {
			Thread.sleep(millis);
			return "late";
		}

	}

	static class Reports {

		static final CountDownLatch written = new CountDownLatch(1);

		@Delayed(delay = "0", durable = true)
		public void report() {
			written.countDown();
		}

		@Delayed(delay = "0", executor = "blocking")
		public Future<String> onBlockingExecutor() {
			return CompletableFuture.completedFuture("done");
		}

	}

}
