package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.jdbc.autoconfigure.TimingWheelJdbcStoreAutoConfiguration;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A body that ends the application ends it promptly. The waits of the shutdown would take
 * longer than the tests wait.
 */
class EndOfApplicationTests {

	@ParameterizedTest
	@EnumSource
	void aBodyThatClosesTheContextDoesNotWaitForItself(Caller caller) throws Exception {
		ConfigurableApplicationContext context = application().run();
		CompletableFuture<Void> closed = new CompletableFuture<>();
		Bodies bodies = context.getBean(Bodies.class);
		bodies.act(() -> {
			SpringApplication.exit(context);
			closed.complete(null);
		});
		caller.call(bodies, context.getBean(DelayedTaskOperations.class));
		assertThat(closed).succeedsWithin(Duration.ofMinutes(2));
		assertThat(context.isActive()).isFalse();
	}

	@Test
	void aBodyThatEndsTheJvmDoesNotWaitForItself() throws Exception {
		boolean virtualThreads = Runtime.version().feature() >= 21;
		Process process = new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(),
				"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", System.getProperty("java.class.path"),
				ExitingApplication.class.getName(), virtualThreads ? "VIRTUAL" : "DURABLE")
			.redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
			assertThat(process.exitValue()).isEqualTo(3);
		}
		finally {
			process.destroyForcibly();
		}
	}

	@Test
	void otherBodiesAreWaitedFor() throws Exception {
		ConfigurableApplicationContext context = application().run();
		CompletableFuture<Void> began = new CompletableFuture<>();
		CompletableFuture<Boolean> ended = new CompletableFuture<>();
		DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
		tasks.schedule(Duration.ZERO, () -> {
			began.complete(null);
			try {
				Thread.sleep(500);
				ended.complete(true);
			}
			catch (InterruptedException ex) {
				ended.complete(false);
			}
		});
		began.get(1, TimeUnit.MINUTES);
		CompletableFuture<Boolean> endedBefore = new CompletableFuture<>();
		tasks.schedule(Duration.ZERO, () -> {
			context.close();
			endedBefore.complete(ended.getNow(false));
		});
		assertThat(endedBefore.get(2, TimeUnit.MINUTES)).isTrue();
	}

	@Test
	void noThreadOutlivesTheContext() throws Exception {
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		try (ConfigurableApplicationContext context = application(Blocking.class).run()) {
			Bodies bodies = context.getBean(Bodies.class);
			CountDownLatch ran = new CountDownLatch(1);
			bodies.act(ran::countDown);
			bodies.durable();
			assertThat(ran.await(1, TimeUnit.MINUTES)).isTrue();
			context.getBean(Blocking.class).run().get(1, TimeUnit.MINUTES);
			bodies.act(() -> LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1)));
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(bodies::shortlyLimited);
			await().untilAsserted(() -> {
				// There is no completion if the call itself takes as long as its limit.
				assertThatException().isThrownBy(() -> bodies.never().join());
				assertThat(threads("timing-wheel-completion-")).isNotEmpty();
			});
			assertThat(threads("timing-wheel-hand-over-")).isNotEmpty();
		}
		await().untilAsserted(
				() -> assertThat(threads("(tim|delayed-|task-)")).allMatch((thread) -> before.contains(thread)));
	}

	private static List<Thread> threads(String prefix) {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().matches(prefix + ".*"))
			.toList();
	}

	private static SpringApplicationBuilder application(Class<?>... sources) {
		return new SpringApplicationBuilder(Bodies.class).sources(sources)
			.web(WebApplicationType.NONE)
			.properties("timingwheel.store.type=jdbc", "spring.datasource.url=jdbc:h2:mem:${random.uuid}",
					"timingwheel.store.poll-interval=10ms", "timingwheel.shutdown.await-termination-period=10m",
					"spring.lifecycle.timeout-per-shutdown-phase=10m", "spring.main.banner-mode=off");
	}

	enum Caller {

		MEMORY((bodies, tasks) -> bodies.memory()),
		TEMPLATE((bodies, tasks) -> tasks.schedule(Duration.ZERO, bodies::runs)),
		RECURRING((bodies, tasks) -> bodies.recurs()), DURABLE((bodies, tasks) -> bodies.durable()),
		TIMEOUT((bodies, tasks) -> bodies.limited());

		private final BiConsumer<Bodies, DelayedTaskOperations> call;

		Caller(BiConsumer<Bodies, DelayedTaskOperations> call) {
			this.call = call;
		}

		void call(Bodies bodies, DelayedTaskOperations tasks) {
			this.call.accept(bodies, tasks);
		}

	}

	static final class ExitingApplication {

		private ExitingApplication() {
		}

		public static void main(String[] arguments) throws InterruptedException {
			boolean virtual = arguments[0].equals("VIRTUAL");
			ConfigurableApplicationContext context = application().run("--spring.threads.virtual.enabled=" + virtual);
			Bodies bodies = context.getBean(Bodies.class);
			bodies.act(() -> System.exit(3));
			Caller.valueOf(virtual ? "MEMORY" : arguments[0])
				.call(bodies, context.getBean(DelayedTaskOperations.class));
			// The JVM would end by itself if main returned before the body begins.
			new CountDownLatch(1).await();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration({ TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class,
			DataSourceAutoConfiguration.class, TimingWheelAutoConfiguration.class,
			TimingWheelJdbcStoreAutoConfiguration.class, TimingWheelStoreAutoConfiguration.class })
	static class Bodies {

		private volatile Runnable action = () -> {
		};

		private volatile boolean recurs;

		public void act(Runnable action) {
			this.action = action;
		}

		@Delayed("0s")
		public void memory() {
			this.action.run();
		}

		public void runs() {
			this.action.run();
		}

		@Recurring(every = "100ms", name = "recurring")
		public void run() {
			if (this.recurs) {
				this.action.run();
			}
		}

		public void recurs() {
			this.recurs = true;
		}

		@Delayed(delay = "0s", name = "durable", durable = true)
		public void durable() {
			this.action.run();
		}

		@Timeout("1m")
		public void limited() {
			this.action.run();
		}

		@Timeout("20ms")
		public void shortlyLimited() {
			this.action.run();
		}

		@Timeout("20ms")
		public CompletableFuture<String> never() {
			return new CompletableFuture<>();
		}

	}

	static class Blocking {

		@Bean
		Executor blockingExecutor() {
			return Runnable::run;
		}

		@Delayed(delay = "0", executor = "blockingExecutor")
		public Future<String> run() {
			return CompletableFuture.completedFuture("done");
		}

	}

}
