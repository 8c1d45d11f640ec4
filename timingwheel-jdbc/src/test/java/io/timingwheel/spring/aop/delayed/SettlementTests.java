package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.spring.actuate.DelayedTaskObservationConvention;
import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.autoconfigure.TimingWheelMetricsAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelObservationAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreMetricsAutoConfiguration;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.invocation.InvocationOnMock;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

/**
 * Whatever the code of the application throws, a task that has ended is settled, and the
 * next task of its name starts. Each name here runs one body at a time.
 */
class SettlementTests {

	private static final Duration SOON = Duration.ofSeconds(10);

	private final ApplicationContextRunner memory = limited(DelayedContexts.realTimeRunner(Bodies.class));

	private final ApplicationContextRunner durable = limited(DurableContexts.jdbc(Bodies.class, StoredBodies.class))
		.withPropertyValues("timingwheel.tasks.stored.backoff.initial=1ms", "timingwheel.tasks.stored.max-attempts=2");

	private static ApplicationContextRunner limited(ApplicationContextRunner runner) {
		return runner.withPropertyValues(Stream.of("body", "future", "schedule", "stored")
			.map((name) -> "timingwheel.tasks." + name + ".max-concurrent=1")
			.toArray(String[]::new));
	}

	@Test
	void aTaskInMemoryWhoseExceptionIsHostileHasFailed() {
		this.memory
			.withPropertyValues("timingwheel.tasks.body.max-attempts=2", "timingwheel.tasks.body.backoff.initial=1ms")
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				for (Hostile hostile : Hostile.values()) {
					CompletableFuture<String> failing = bodies.future(() -> thrown(new HostileException(hostile)));
					bodies.body(() -> thrown(new HostileException(hostile)));
					DelayedTask<?> repeating = context.getBean(DelayedTaskOperations.class)
						.task(() -> thrown(new HostileException(hostile)))
						.every(Duration.ofMillis(1));
					await().atMost(SOON)
						.until(() -> failing.isCompletedExceptionally()
								&& repeating.completion().isCompletedExceptionally());
				}
				assertSettled(context);
				assertThat(DelayedContexts.counts(context, "body").failed()).isEqualTo(Hostile.values().length);
			});
	}

	@Test
	void aScheduleInMemoryGoesOnAfterHostileExceptions() {
		this.memory.withBean(Rhythmic.class).run((context) -> {
			Rhythmic bean = context.getBean(Rhythmic.class);
			await().atMost(SOON).until(() -> bean.runs() > 2 * Hostile.values().length);
		});
	}

	@Test
	void aDurableTaskWhoseExceptionIsHostileDies() {
		this.durable.run((context) -> {
			StoredBodies bodies = context.getBean(StoredBodies.class);
			for (Hostile hostile : Hostile.values()) {
				bodies.stored(hostile.name());
			}
			DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
			await().atMost(SOON).until(() -> dead(store).size() == Hostile.values().length);
			assertThat(dead(store))
				.allSatisfy((dead) -> assertThat(dead.error()).contains(HostileException.class.getName()));
			bodies.stored("next");
			await().atMost(SOON).until(() -> bodies.ran().contains("next"));
			await().atMost(SOON).until(() -> store.counts(List.of()).get("stored").running() == 0);
		});
	}

	@Test
	void aFutureOfTheApplicationMayThrow() {
		this.memory.run((context) -> {
			Bodies bodies = context.getBean(Bodies.class);
			CompletableFuture<String> stage = bodies.future(HostileStage::new);
			CompletableFuture<?> future = (CompletableFuture<?>) bodies.plainFuture(HostileFuture::new);
			assertSettled(context);
			await().atMost(SOON).until(() -> stage.isCompletedExceptionally() && future.isCompletedExceptionally());
		});
	}

	@Test
	void anExceptionHandlerMayThrow() {
		AsyncUncaughtExceptionHandler hostile = (error, method,
				arguments) -> thrown(new HostileException(Hostile.ENDLESS_TO_STRING));
		this.durable.withBean(AsyncUncaughtExceptionHandler.class, () -> hostile).run((context) -> {
			Bodies bodies = context.getBean(Bodies.class);
			bodies.body(() -> thrown(new IllegalStateException("expected")));
			context.getBean(StoredBodies.class).stored(Hostile.ENDLESS_TO_STRING.name());
			assertSettled(context);
			context.getBean(StoredBodies.class).stored("next");
			await().atMost(SOON).until(() -> context.getBean(StoredBodies.class).ran().contains("next"));
		});
	}

	@Test
	void aMeterMayThrow() {
		this.durable
			.withConfiguration(AutoConfigurations.of(TimingWheelMetricsAutoConfiguration.class,
					TimingWheelStoreMetricsAutoConfiguration.class))
			.withUserConfiguration(HostileMeters.class)
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				assertThat(bodies.future(() -> CompletableFuture.completedFuture("done"))).succeedsWithin(SOON);
				context.getBean(StoredBodies.class).stored("first");
				context.getBean(StoredBodies.class).stored("second");
				await().atMost(SOON)
					.until(() -> context.getBean(StoredBodies.class).ran().containsAll(List.of("first", "second")));
				assertSettled(context);
				assertThat(DelayedContexts.counts(context, "future").completed()).isEqualTo(2);
			});
	}

	@ParameterizedTest
	@ValueSource(strings = { "onStart", "onScopeOpened", "onScopeClosed", "onError", "onStop", "getContextualName",
			"getName" })
	void anObservationMayThrow(String event) {
		HostileObservations.event = event;
		this.durable.withConfiguration(AutoConfigurations.of(TimingWheelObservationAutoConfiguration.class))
			.withUserConfiguration(HostileObservations.class)
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				assertThat(bodies.future(() -> CompletableFuture.completedFuture("done"))).succeedsWithin(SOON);
				assertThat(bodies.future(() -> thrown(new IllegalStateException("expected")))).failsWithin(SOON);
				context.getBean(StoredBodies.class).stored("once");
				assertSettled(context);
				DelayedTaskStore store = context.getBean(DelayedTaskStore.class);
				await().atMost(SOON).until(() -> store.counts(List.of()).isEmpty());
				assertThat(context.getBean(StoredBodies.class).ran()).containsExactly("once");
				// The observation of one task does not leak into the next one.
				ObservationRegistry registry = context.getBean(ObservationRegistry.class);
				assertThat(context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
					.submitCompletable(() -> registry.getCurrentObservationScope() == null)).succeedsWithin(SOON)
					.isEqualTo(true);
			});
	}

	/**
	 * A decorator of an executor runs in its {@code execute} method, another one on the
	 * thread of the caller.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void aTaskDecoratorMayThrow(boolean ofExecutor) {
		SimpleAsyncTaskExecutor executor = new SimpleAsyncTaskExecutor();
		if (ofExecutor) {
			executor.setTaskDecorator((body) -> {
				throw new StackOverflowError("expected");
			});
		}
		TaskDecorator decorator = (body) -> ofExecutor ? body
				: () -> thrown(new HostileException(Hostile.ENDLESS_TO_STRING));
		this.memory.withBean(Decorated.class)
			.withBean("decorating", TaskExecutor.class, () -> executor)
			.withBean(TaskDecorator.class, () -> decorator)
			.run((context) -> {
				Decorated bean = context.getBean(Decorated.class);
				CompletableFuture<String> first = bean.decorated();
				CompletableFuture<String> second = bean.decorated();
				await().atMost(SOON).until(() -> first.isCompletedExceptionally() && second.isCompletedExceptionally());
				assertThat(DelayedContexts.counts(context, "decorated").failed()).isEqualTo(2);
			});
	}

	/**
	 * Asserts that a further task of each name runs, and that none counts as running.
	 */
	private static void assertSettled(ApplicationContext context) {
		Bodies bodies = context.getBean(Bodies.class);
		bodies.body(() -> bodies.ran().add("next body"));
		assertThat(bodies.future(() -> CompletableFuture.completedFuture("next"))).succeedsWithin(SOON);
		await().atMost(SOON).until(() -> bodies.ran().contains("next body"));
		DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
		await().atMost(SOON).until(() -> tasks.counts("body").running() == 0 && tasks.counts("future").running() == 0);
	}

	private static List<StoredTask> dead(DelayedTaskStore store) {
		return store.list(new ListQuery("stored", ListQuery.Order.DEAD_LATEST_FIRST, null, 10)).tasks();
	}

	private static <T> T thrown(RuntimeException ex) {
		throw ex;
	}

	static class Bodies {

		private final List<String> ran = new CopyOnWriteArrayList<>();

		public List<String> ran() {
			return this.ran;
		}

		@Delayed(delay = "1ms", name = "body")
		public void body(Runnable body) {
			body.run();
		}

		@Delayed(delay = "1ms", name = "future")
		public CompletableFuture<String> future(Supplier<? extends CompletableFuture<String>> body) {
			return body.get();
		}

		@Delayed(delay = "1ms", name = "future-of-the-jdk")
		public Future<String> plainFuture(Supplier<? extends Future<String>> body) {
			return body.get();
		}

	}

	static class Decorated {

		@Delayed(delay = "1ms", name = "decorated", executor = "decorating")
		public CompletableFuture<String> decorated() {
			return CompletableFuture.completedFuture("not reached");
		}

	}

	static class Rhythmic {

		private final AtomicInteger runs = new AtomicInteger();

		@Recurring(every = "5ms", name = "schedule",
				policy = @TaskPolicy(maxAttempts = 2, backoff = @Backoff(initial = "1ms")))
		public void run() {
			throw new HostileException(Hostile.values()[this.runs.getAndIncrement() / 2 % Hostile.values().length]);
		}

		public int runs() {
			return this.runs.get();
		}

	}

	static class StoredBodies {

		private final List<String> ran = new CopyOnWriteArrayList<>();

		public List<String> ran() {
			return this.ran;
		}

		@Delayed(delay = "1ms", name = "stored", durable = true)
		public void stored(String text) {
			this.ran.add(text);
			for (Hostile hostile : Hostile.values()) {
				if (text.equals(hostile.name())) {
					throw new HostileException(hostile);
				}
			}
		}

	}

	enum Hostile {

		ENDLESS_TO_STRING, NULL_TO_STRING, THROWING_MESSAGE, CIRCLE_OF_CAUSES, THROWING_CAUSE, THROWING_STACK,
		NULL_STACK

	}

	@SuppressWarnings("serial")
	static class HostileException extends CompletionException {

		private final Hostile hostile;

		HostileException(Hostile hostile) {
			super("hostile", null);
			this.hostile = hostile;
		}

		@Override
		public String toString() {
			return switch (this.hostile) {
				case ENDLESS_TO_STRING -> "endless " + this;
				case NULL_TO_STRING -> null;
				default -> super.toString();
			};
		}

		@Override
		public String getMessage() {
			if (this.hostile == Hostile.THROWING_MESSAGE) {
				throw new AssertionError("expected");
			}
			return super.getMessage();
		}

		@Override
		public Throwable getCause() {
			return switch (this.hostile) {
				case CIRCLE_OF_CAUSES -> this;
				case THROWING_CAUSE -> thrown(new IllegalStateException("expected"));
				default -> super.getCause();
			};
		}

		@Override
		public StackTraceElement[] getStackTrace() {
			return switch (this.hostile) {
				case THROWING_STACK -> thrown(new IllegalStateException("expected"));
				case NULL_STACK -> null;
				default -> super.getStackTrace();
			};
		}

	}

	static class HostileStage extends CompletableFuture<String> {

		@Override
		public CompletableFuture<String> whenComplete(BiConsumer<? super String, ? super Throwable> action) {
			throw new AssertionError("expected");
		}

	}

	static class HostileFuture extends FutureTask<String> {

		HostileFuture() {
			super(() -> "not reached");
		}

		@Override
		public boolean isDone() {
			throw new AssertionError("expected");
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HostileMeters {

		@Bean
		MeterRegistry meterRegistry() {
			return new SimpleMeterRegistry() {

				@Override
				protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
					return mock(Timer.class, (call) -> thrown(new HostileException(Hostile.THROWING_MESSAGE)));
				}

			};
		}

		@Bean
		SmartInitializingSingleton binding(MeterRegistry registry, ObjectProvider<MeterBinder> binders) {
			return () -> binders.forEach((binder) -> binder.bindTo(registry));
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class HostileObservations {

		static volatile String event = "";

		@Bean
		ObservationRegistry observationRegistry() {
			ObservationHandler<?> handler = mock(ObservationHandler.class, (call) -> {
				fail(call);
				return (call.getMethod().getReturnType() == boolean.class) ? true : null;
			});
			ObservationRegistry registry = ObservationRegistry.create();
			registry.observationConfig().observationHandler(handler);
			return registry;
		}

		@Bean
		DelayedTaskObservationConvention convention() {
			return mock(DelayedTaskObservationConvention.class, (call) -> {
				fail(call);
				return call.callRealMethod();
			});
		}

		private static void fail(InvocationOnMock call) {
			if (call.getMethod().getName().equals(event)) {
				throw new HostileException(Hostile.ENDLESS_TO_STRING);
			}
		}

	}

}
