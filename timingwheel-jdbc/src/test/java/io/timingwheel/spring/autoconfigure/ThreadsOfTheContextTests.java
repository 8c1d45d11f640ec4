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
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.annotation.CancelDelayed;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;
import org.slf4j.MDC;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Where and when the futures and publishers of this library complete, with real time.
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
		Set<String> after = ConcurrentHashMap.newKeySet();
		Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> !before.contains(thread))
			.forEach((thread) -> after.add(thread.getName()));
		assertThat(after)
			.noneMatch((name) -> name.startsWith("tim") || name.startsWith("delayed-") || name.startsWith("task-"));
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

	private static <T> T join(Future<T> future) {
		try {
			return future.get(60, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	static class Service {

		@Timeout("20ms")
		public CompletableFuture<String> future() {
			return new CompletableFuture<>();
		}

		@Timeout("20ms")
		public CompletableFuture<String> following(CompletableFuture<String> source) {
			return source;
		}

		@Timeout("20ms")
		public Mono<String> mono() {
			return Mono.never();
		}

		@Timeout("20ms")
		public Mono<String> mono(CompletableFuture<String> source) {
			return Mono.fromFuture(source);
		}

		@Timeout("20ms")
		public Flux<String> flux() {
			return Flux.never();
		}

		@Timeout("20ms")
		public Flux<String> flux(CompletableFuture<String> source) {
			return Mono.fromFuture(source).flux();
		}

		@Timeout("20ms")
		public String sleeping(long millis) throws InterruptedException {
			Thread.sleep(millis);
			return "late";
		}

		@Timeout(timeout = "20ms", fallback = "fallback")
		public String syncOrFallback() throws InterruptedException {
			return sleeping(1_000);
		}

		private String fallback() {
			return "fallback " + MDC.get("order");
		}

		@Timeout(timeout = "20ms", fallback = "fallbackFuture")
		public CompletableFuture<String> futureOrFallback() {
			return new CompletableFuture<>();
		}

		private CompletableFuture<String> fallbackFuture() {
			return CompletableFuture.completedFuture(fallback());
		}

		@Timeout(timeout = "20ms", fallback = "fallbackPlain")
		public Future<String> plainOrFallback() {
			return new FutureTask<>(() -> "never runs");
		}

		private Future<String> fallbackPlain() {
			FutureTask<String> result = new FutureTask<>(this::fallback);
			result.run();
			return result;
		}

		@Timeout(timeout = "20ms", fallback = "fallbackMono")
		public Mono<String> monoOrFallback() {
			return Mono.never();
		}

		private Mono<String> fallbackMono() {
			return Mono.just(fallback());
		}

		@Timeout(timeout = "20ms", fallback = "fallbackFlux")
		public Flux<String> fluxOrFallback() {
			return Flux.never();
		}

		private Flux<String> fallbackFlux() {
			return Flux.just(fallback());
		}

		@Timeout(timeout = "20ms", fallback = "fallbackCallable")
		public Callable<String> callableOrFallback() {
			return () -> sleeping(1_000);
		}

		private Callable<String> fallbackCallable() {
			return this::fallback;
		}

		@Delayed(delay = "0", name = "expiring", expireAfter = "20ms")
		public Future<String> expiring() {
			return CompletableFuture.completedFuture("begun");
		}

		@Delayed(delay = "0", name = "limited", expireAfter = "200ms", policy = @TaskPolicy(maxConcurrent = 1))
		public CompletableFuture<String> limited(CompletableFuture<Future<String>> next) {
			return CompletableFuture.completedFuture(ThreadsOfTheContextTests.join(next.join()));
		}

		@Delayed(delay = "1h", name = "close", key = "'order'")
		public void close() {
		}

		@CancelDelayed(name = "close", key = "'order'")
		public Future<String> pay(Future<String> payment) {
			return payment;
		}

		@Delayed("0")
		public Future<String> delayed(Future<String> inner) {
			return inner;
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
