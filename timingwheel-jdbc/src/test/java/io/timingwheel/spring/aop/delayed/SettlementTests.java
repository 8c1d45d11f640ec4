package io.timingwheel.spring.aop.delayed;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.DistributionStatisticConfig;
import io.micrometer.core.instrument.distribution.pause.PauseDetector;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.spring.actuate.DelayedTaskObservationConvention;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.durable.call.MemoryStore;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.mockito.invocation.InvocationOnMock;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.task.AsyncTaskExecutor;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.core.task.TaskDecorator;
import org.springframework.core.task.TaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.doReturn;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.spy;

/**
 * Whatever the code of the application throws, a task that has ended is settled, and the
 * next task of its name starts. Each name here runs one body at a time.
 */
class SettlementTests {

	private static final Duration SOON = Duration.ofMinutes(1);

	private final MemoryStore store = new MemoryStore();

	private final List<String> ran = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner runner = DurableContexts.runner(this.store)
		.withBean(Bodies.class)
		.withPropertyValues(policies("max-concurrent=1"));

	private static String[] policies(String setting) {
		return Stream.of("body", "future", "schedule", "stored")
			.map((name) -> "timingwheel.tasks." + name + "." + setting)
			.toArray(String[]::new);
	}

	@Test
	void exceptionsMayBeHostile() {
		this.runner.withPropertyValues(policies("max-attempts=2"))
			.withPropertyValues(policies("backoff.initial=1ms"))
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				for (Hostile hostile : Hostile.values()) {
					bodies.body(hostile::fail);
					bodies.stored(hostile::fail);
					CompletableFuture<String> future = bodies.future(hostile::fail);
					DelayedTask<?> repeating = tasks.task(() -> hostile.fail()).every(Duration.ofMillis(1));
					AtomicInteger runs = new AtomicInteger();
					bodies.schedule(() -> {
						runs.incrementAndGet();
						hostile.fail();
					});
					await(hostile.name()).until(() -> future.isCompletedExceptionally()
							&& repeating.completion().isCompletedExceptionally() && runs.get() > 2);
					await(hostile.name())
						.untilAsserted(() -> assertThat(this.store.dead("stored", 10)).hasSize(1 + hostile.ordinal())
							.extracting(StoredTask::error)
							.allMatch((error) -> error.contains(CompletionException.class.getName())));
					assertSettled(context);
					assertThat(DelayedContexts.counts(context, "body").failed()).isEqualTo(1 + hostile.ordinal());
				}
			});
	}

	@Test
	void aFutureOfTheApplicationMayThrow() {
		Future<String> hostileFuture = new FutureTask<>(() -> "not reached") {

			@Override
			public boolean isDone() {
				throw new AssertionError("expected");
			}

		};
		this.runner.run((context) -> {
			Bodies bodies = context.getBean(Bodies.class);
			CompletableFuture<?> future = (CompletableFuture<?>) bodies.plainFuture(() -> hostileFuture);
			assertSettled(context);
			await().until(future::isCompletedExceptionally);
		});
	}

	@Test
	void anExceptionHandlerMayThrow() {
		this.runner
			.withBean(AsyncUncaughtExceptionHandler.class,
					() -> (error, method, arguments) -> Hostile.ENDLESS_TO_STRING.fail())
			.run((context) -> {
				context.getBean(Bodies.class).body(Hostile.ENDLESS_TO_STRING::fail);
				context.getBean(Bodies.class).stored(Hostile.ENDLESS_TO_STRING::fail);
				assertSettled(context);
			});
	}

	@Test
	void aMeterMayThrow() {
		MeterRegistry registry = new SimpleMeterRegistry() {

			@Override
			protected Timer newTimer(Meter.Id id, DistributionStatisticConfig config, PauseDetector pauses) {
				return mock(Timer.class, (call) -> switch (call.getMethod().getName()) {
					case "getId" -> id;
					case "close" -> null;
					default -> Hostile.THROWING_MESSAGE.fail();
				});
			}

		};
		this.runner.withBean(MeterRegistry.class, () -> registry)
			.withConfiguration(
					AutoConfigurations.of(MetricsAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class))
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				assertThat(bodies.future(() -> CompletableFuture.completedFuture("done"))).succeedsWithin(SOON);
				bodies.stored(() -> this.ran.add("first"));
				assertSettled(context);
				assertThat(this.ran).contains("first");
				assertThat(registry.get("timingwheel.tasks.duration").timers()).isNotEmpty();
				assertThat(DelayedContexts.counts(context, "future").completed()).isEqualTo(2);
			});
	}

	@Test
	void anObservationMayThrow() {
		AtomicReference<String> event = new AtomicReference<>();
		ObservationHandler<?> handler = mock(ObservationHandler.class, (call) -> {
			fail(call, event.get());
			return (call.getMethod().getReturnType() == boolean.class) ? true : null;
		});
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(handler);
		DelayedTaskObservationConvention convention = mock(DelayedTaskObservationConvention.class, (call) -> {
			fail(call, event.get());
			return call.callRealMethod();
		});
		this.runner.withBean(ObservationRegistry.class, () -> registry)
			.withBean(DelayedTaskObservationConvention.class, () -> convention)
			.withConfiguration(AutoConfigurations.of(TimingWheelActuatorAutoConfiguration.class))
			.run((context) -> {
				Bodies bodies = context.getBean(Bodies.class);
				for (String each : List.of("onStart", "onScopeOpened", "onScopeClosed", "onError", "onStop",
						"getContextualName", "getName")) {
					event.set(each);
					assertThat(bodies.future(() -> CompletableFuture.completedFuture("done"))).as(each)
						.succeedsWithin(SOON);
					assertThat(bodies.future(Hostile.NULL_STACK::fail)).as(each).failsWithin(SOON);
					bodies.stored(() -> this.ran.add(each));
					assertSettled(context);
					assertThat(this.ran).containsOnlyOnce(each);
					// The observation of one task does not leak into the next one.
					assertThat(context.getBean("applicationTaskExecutor", AsyncTaskExecutor.class)
						.submitCompletable(() -> registry.getCurrentObservationScope() == null)).succeedsWithin(SOON)
						.isEqualTo(true);
				}
			});
	}

	private static void fail(InvocationOnMock call, String method) {
		if (call.getMethod().getName().equals(method)) {
			Hostile.ENDLESS_TO_STRING.fail();
		}
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
		TaskDecorator decorator = (body) -> ofExecutor ? body : Hostile.ENDLESS_TO_STRING::fail;
		this.runner.withBean("decorating", TaskExecutor.class, () -> executor)
			.withBean(TaskDecorator.class, () -> decorator)
			.run((context) -> {
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				for (int i = 0; i < 2; i++) {
					CompletableFuture<String> result = tasks.task(() -> "not reached")
						.name("body")
						.executor("decorating")
						.after(Duration.ofMillis(1))
						.completion();
					await().until(result::isCompletedExceptionally);
				}
				assertThat(DelayedContexts.counts(context, "body").failed()).isEqualTo(2);
			});
	}

	/** Asserts that a further task of each name runs, and that none counts as running. */
	private void assertSettled(ApplicationContext context) {
		Bodies bodies = context.getBean(Bodies.class);
		this.ran.removeAll(List.of("next body", "next stored"));
		bodies.body(() -> this.ran.add("next body"));
		bodies.stored(() -> this.ran.add("next stored"));
		assertThat(bodies.future(() -> CompletableFuture.completedFuture("next"))).succeedsWithin(SOON);
		await().until(() -> this.ran.containsAll(List.of("next body", "next stored")));
		DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
		await().until(() -> tasks.counts("body").running() == 0 && tasks.counts("future").running() == 0
				&& this.store.pending("stored", 10).isEmpty()
				&& this.store.counts(List.of("stored")).values().stream().allMatch((counts) -> counts.running() == 0));
	}

	static class Bodies {

		private final Map<String, Runnable> stored = new ConcurrentHashMap<>();

		private volatile Runnable scheduled = () -> {
		};

		@Autowired
		private DelayedTaskOperations tasks;

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

		public void schedule(Runnable body) {
			this.scheduled = body;
		}

		@Recurring(every = "5ms", name = "schedule")
		public void scheduled() {
			this.scheduled.run();
		}

		public void stored(Runnable body) {
			String key = UUID.randomUUID().toString();
			this.stored.put(key, body);
			this.tasks.enqueue(TaskId.of("stored", key), Duration.ofMillis(1), key);
		}

		@Delayed(delay = "1ms", name = "stored", durable = true)
		public void stored(String key) {
			this.stored.get(key).run();
		}

	}

	enum Hostile {

		ENDLESS_TO_STRING((ex) -> doThrow(new StackOverflowError()).when(ex).toString()),
		NULL_TO_STRING((ex) -> doReturn(null).when(ex).toString()),
		THROWING_MESSAGE((ex) -> doThrow(new AssertionError("expected")).when(ex).getMessage()),
		CIRCLE_OF_CAUSES((ex) -> doReturn(ex).when(ex).getCause()),
		THROWING_STACK((ex) -> doThrow(new IllegalStateException("expected")).when(ex).getStackTrace()),
		NULL_STACK((ex) -> doReturn(null).when(ex).getStackTrace());

		private final CompletionException exception = spy(new CompletionException("hostile", null));

		Hostile(Consumer<CompletionException> stub) {
			stub.accept(this.exception);
		}

		<T> T fail() {
			throw this.exception;
		}

	}

}
