package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.autoconfigure.TimingWheelMetricsAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelObservationAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DelayedTaskObservationTests {

	private final ManualTimeSource time = new ManualTimeSource();

	private final ObservationRegistry registry = ObservationRegistry.create();

	private final List<DelayedTaskObservationContext> observed = new CopyOnWriteArrayList<>();

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class))
		.withBean(ObservationRegistry.class, () -> this.registry)
		.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(this.time))
		.withBean("orders", Orders.class);

	DelayedTaskObservationTests() {
		this.registry.observationConfig().observationHandler(new Recorder());
	}

	@Test
	void anExecutionIsObservedWithTheKeysOfSpringsScheduledTasks() {
		this.contextRunner.run((context) -> {
			run(context.getBean(Orders.class).close(5));
			DelayedTaskObservationContext observation = observation();
			assertThat(observation.getName()).isEqualTo("timingwheel.task.execution");
			assertThat(observation.getContextualName()).isEqualTo("task close-order");
			assertThat(observation.getLowCardinalityKeyValues()).containsExactlyInAnyOrder(
					KeyValue.of("code.function", "close"), KeyValue.of("code.namespace", Orders.class.getName()),
					KeyValue.of("exception", "none"), KeyValue.of("outcome", "SUCCESS"));
			assertThat(observation.getHighCardinalityKeyValues()).isEmpty();
			assertThat(observation.getExecution().name()).isEqualTo("close-order");
		});
	}

	@Test
	void aFailureIsObserved() {
		this.contextRunner.run((context) -> {
			run(context.getBean(Orders.class).fail());
			DelayedTaskObservationContext observation = observation();
			assertThat(observation.getError()).isInstanceOf(IllegalStateException.class);
			assertThat(observation.getLowCardinalityKeyValues())
				.contains(KeyValue.of("exception", "IllegalStateException"), KeyValue.of("outcome", "ERROR"));
		});
	}

	@Test
	void aTaskOfTheTemplateIsObservedByItsName() {
		this.contextRunner.run((context) -> {
			run(context.getBean(DelayedTaskOperations.class)
				.task(() -> "done")
				.name("ping")
				.after(Duration.ofMinutes(30)));
			assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("code.function", "ping"),
					KeyValue.of("code.namespace", "none"));
		});
	}

	@Test
	void namesMadeUpAtRunTimeDoNotHaveMetersWithoutLimit() {
		this.contextRunner
			.withConfiguration(
					AutoConfigurations.of(MetricsAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class))
			.withBean(MeterRegistry.class, SimpleMeterRegistry::new)
			.run((context) -> {
				MeterRegistry meters = context.getBean(MeterRegistry.class);
				this.registry.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
				DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
				IntStream.range(0, 150)
					.forEach((i) -> tasks.task(() -> "done").name("name-" + i).after(Duration.ofMinutes(30)));
				this.time.advance(Duration.ofMinutes(30));
				await().until(() -> this.observed.size() == 150);
				assertThat(meters.get("timingwheel.task.execution").timers()).hasSize(100);
			});
	}

	@Test
	void theObservationInWhichTheCallWasMadeIsNotKept() {
		this.contextRunner.run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<?> task = caller.scopedChecked(() -> context.getBean(Orders.class).close(5));
			caller.stop();
			run(task);
			assertThat(observation().getParentObservation()).isNull();
		});
	}

	@Test
	void anAsynchronousBodyIsObservedUntilItsFutureEnds() {
		this.contextRunner.run((context) -> {
			CompletableFuture<String> inner = new CompletableFuture<>();
			CompletableFuture<String> outer = context.getBean(Orders.class).follow(inner);
			this.time.advance(Duration.ofMinutes(30));
			await().until(() -> context.getBean(Orders.class).returned() == 1);
			assertThat(this.observed).isEmpty();
			inner.completeExceptionally(new IllegalStateException("late"));
			await().until(() -> outer.isDone() && this.observed.size() == 1);
			assertThat(observation().getError()).isInstanceOf(IllegalStateException.class);
			assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("outcome", "ERROR"));
		});
	}

	@Test
	void aFutureThatCannotCallBackIsObservedUntilItsEndToo() {
		this.contextRunner.run((context) -> {
			FutureTask<String> inner = new FutureTask<>(() -> "late");
			Future<String> outer = context.getBean(Orders.class).followPlain(inner);
			this.time.advance(Duration.ofMinutes(30));
			await().until(() -> context.getBean(Orders.class).returned() == 1);
			assertThat(this.observed).isEmpty();
			inner.run();
			await().until(() -> outer.isDone() && this.observed.size() == 1);
			assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("outcome", "SUCCESS"));
		});
	}

	@Test
	void anotherTaskThatTheBodySchedulesHasAnObservationOfItsOwn() {
		this.contextRunner.run((context) -> {
			DelayedTaskOperations tasks = context.getBean(DelayedTaskOperations.class);
			DelayedTask<DelayedTask<String>> task = tasks.schedule(Duration.ofMinutes(30),
					() -> tasks.schedule(Duration.ofMinutes(30), () -> "next"));
			run(task);
			await().untilAsserted(() -> assertThat(this.observed).hasSize(1));
			run(task.get());
			await().untilAsserted(() -> assertThat(this.observed).hasSize(2));
		});
	}

	@Test
	void aCallOutsideOfAnObservationHasNoParentEvenIfAnotherCallHad() {
		this.contextRunner.run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<String> first = caller.scopedChecked(() -> context.getBean(Orders.class).close(5));
			DelayedTask<String> second = context.getBean(Orders.class).close(5);
			run(second);
			assertThat(first.status()).isEqualTo(DelayedTask.Status.REPLACED);
			assertThat(observation().getParentObservation()).isNull();
		});
	}

	@Test
	void theBodyRunsWithinItsObservation() {
		this.contextRunner.run((context) -> {
			DelayedTask<Observation> task = context.getBean(DelayedTaskOperations.class)
				.schedule(Duration.ofMinutes(30), this.registry::getCurrentObservation);
			run(task);
			assertThat(task.get()).isNotNull();
			assertThat(task.get().getContextView()).isSameAs(observation());
			assertThat(this.registry.getCurrentObservation()).isNull();
		});
	}

	@Test
	void aConventionOfTheApplicationNamesTheObservation() {
		this.contextRunner.withBean(DelayedTaskObservationConvention.class, CustomConvention::new).run((context) -> {
			run(context.getBean(Orders.class).close(5));
			assertThat(observation().getName()).isEqualTo("my.tasks");
			assertThat(observation().getLowCardinalityKeyValues()).containsExactly(KeyValue.of("task", "close-order"));
		});
	}

	@Test
	void nothingIsObservedWhenSwitchedOff() {
		this.contextRunner.withConfiguration(AutoConfigurations.of(ObservationAutoConfiguration.class))
			.withPropertyValues("management.observations.enable.timingwheel.task.execution=false")
			.run((context) -> {
				run(context.getBean(Orders.class).close(5));
				assertThat(this.observed).isEmpty();
			});
	}

	@Test
	void nothingIsObservedWithoutARegistry() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(TimingWheelAutoConfiguration.class,
					TimingWheelObservationAutoConfiguration.class))
			.run((context) -> assertThat(context).hasNotFailed().doesNotHaveBean(ObservedTaskExecution.class));
	}

	@Test
	void interceptorsOfTheApplicationAreAroundTheBodyTogetherWithTheObservation() {
		this.contextRunner.withUserConfiguration(Interceptors.class).run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<String> task = caller.scopedChecked(() -> context.getBean(Orders.class).close(5));
			caller.stop();
			run(task);
			assertThat(task.get()).isEqualTo("closed");
			await().untilAsserted(() -> assertThat(context.getBean(Interceptors.class).calls).containsExactly(
					"outer begins with captured by outer, observed: false",
					"inner begins with captured by inner, observed: true", "inner ends", "outer ends"));
		});
	}

	@Test
	void anInterceptorSeesTheExecutionThroughTheOthers() {
		this.contextRunner.withUserConfiguration(Interceptors.class).run((context) -> {
			DelayedTask<String> task = context.getBean(Orders.class).close(5);
			run(task);
			assertThat(context.getBean(Interceptors.class).executions).hasSize(2).allSatisfy((execution) -> {
				assertThat(execution.name()).isEqualTo("close-order");
				assertThat(execution.id()).isEqualTo(task.id());
				assertThat(execution.taskId()).isEqualTo(task.taskId());
				assertThat(execution.method()).isNotNull();
				assertThat(execution.dueAt()).isEqualTo(observation().getExecution().dueAt());
				assertThat(execution.lateness()).isEqualTo(observation().getExecution().lateness());
				assertThat(execution.attempt()).isOne();
				assertThat(execution.deliveries()).isOne();
			});
		});
	}

	private void run(DelayedTask<?> task) {
		this.time.advance(Duration.ofMinutes(30));
		await().until(task::isDone);
	}

	private DelayedTaskObservationContext observation() {
		await().until(() -> !this.observed.isEmpty());
		assertThat(this.observed).hasSize(1);
		return this.observed.get(0);
	}

	private final class Recorder implements ObservationHandler<DelayedTaskObservationContext> {

		@Override
		public void onStop(DelayedTaskObservationContext context) {
			DelayedTaskObservationTests.this.observed.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof DelayedTaskObservationContext;
		}

	}

	static class CustomConvention implements DelayedTaskObservationConvention {

		@Override
		public @Nullable String getName() {
			return "my.tasks";
		}

		@Override
		public KeyValues getLowCardinalityKeyValues(DelayedTaskObservationContext context) {
			return KeyValues.of("task", context.getExecution().name());
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Interceptors {

		final List<String> calls = new CopyOnWriteArrayList<>();

		final List<TaskExecution> executions = new CopyOnWriteArrayList<>();

		@Bean
		TaskExecutionInterceptor inner(ObservationRegistry registry) {
			return interceptor("inner", registry);
		}

		@Bean
		@Order(-1)
		TaskExecutionInterceptor outer(ObservationRegistry registry) {
			return interceptor("outer", registry);
		}

		private TaskExecutionInterceptor interceptor(String name, ObservationRegistry registry) {
			return new TaskExecutionInterceptor() {

				@Override
				public Object capture(String task) {
					return "captured by " + name;
				}

				@Override
				public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body)
						throws Throwable {
					Interceptors.this.executions.add(execution);
					Interceptors.this.calls.add("%s begins with %s, observed: %s".formatted(name, captured,
							registry.getCurrentObservation() != null));
					try {
						return body.run();
					}
					finally {
						Interceptors.this.calls.add(name + " ends");
					}
				}

			};
		}

	}

	static class Orders {

		private final AtomicInteger returned = new AtomicInteger();

		int returned() {
			return this.returned.get();
		}

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public DelayedTask<String> close(long orderId) {
			return DelayedTask.completed("closed");
		}

		@Delayed("30m")
		public CompletableFuture<String> follow(CompletableFuture<String> inner) {
			this.returned.incrementAndGet();
			return inner;
		}

		@Delayed("30m")
		public Future<String> followPlain(Future<String> inner) {
			this.returned.incrementAndGet();
			return inner;
		}

		@Delayed("30m")
		public DelayedTask<String> fail() {
			throw new IllegalStateException("Failed");
		}

	}

}
