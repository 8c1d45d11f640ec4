package io.timingwheel.spring.actuate;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;

import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelMetricsAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelObservationAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import io.timingwheel.spring.task.internal.TaskExecutionInterceptor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.core.Ordered;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class DelayedTaskObservationTests {

	private static final Duration DELAY = Duration.ofMinutes(30);

	private static final ObservationRegistry registry = ObservationRegistry.create();

	private static final List<DelayedTaskObservationContext> observed = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = application(registry);

	static {
		registry.observationConfig().observationHandler(new Recorder());
	}

	private static VirtualApplication application(ObservationRegistry registry) {
		return VirtualApplication.of(Observations.class, Orders.class).with(ObservationRegistry.class, () -> registry);
	}

	@AfterEach
	void clear() {
		observed.clear();
	}

	@Test
	void anExecutionIsObservedWithTheKeysOfSpringsScheduledTasks(Orders orders) {
		orders.close(5);
		app.advance(DELAY);
		assertThat(observation().getName()).isEqualTo("timingwheel.task.execution");
		assertThat(observation().getContextualName()).isEqualTo("task close-order");
		assertThat(observation().getLowCardinalityKeyValues()).containsExactlyInAnyOrder(
				KeyValue.of("code.function", "close"), KeyValue.of("code.namespace", Orders.class.getName()),
				KeyValue.of("exception", "none"), KeyValue.of("outcome", "SUCCESS"));
		assertThat(observation().getHighCardinalityKeyValues()).isEmpty();
		assertThat(observation().getExecution().name()).isEqualTo("close-order");
	}

	@Test
	void aFailureIsObserved(Orders orders) {
		orders.fail();
		app.advance(DELAY);
		assertThat(observation().getError()).isInstanceOf(IllegalStateException.class);
		assertThat(observation().getLowCardinalityKeyValues())
			.contains(KeyValue.of("exception", "IllegalStateException"), KeyValue.of("outcome", "ERROR"));
	}

	@Test
	void aTaskOfTheTemplateIsObservedByItsName() {
		app.tasks().task(() -> "done").name("ping").after(DELAY);
		app.advance(DELAY);
		assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("code.function", "ping"),
				KeyValue.of("code.namespace", "none"));
	}

	@Test
	void namesMadeUpAtRunTimeDoNotHaveMetersWithoutLimit() {
		MeterRegistry meters = new SimpleMeterRegistry();
		ObservationRegistry metered = ObservationRegistry.create();
		metered.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		try (VirtualApplication application = VirtualApplication.of(MeteredObservations.class)
			.with(ObservationRegistry.class, () -> metered)
			.with(MeterRegistry.class, () -> meters)) {
			IntStream.range(0, 150)
				.forEach((i) -> application.tasks().task(() -> "done").name("name-" + i).after(DELAY));
			application.advance(DELAY);
			assertThat(meters.get("timingwheel.task.execution").timers()).hasSize(100);
		}
	}

	@Test
	void theObservationInWhichACallWasMadeIsNotKept(Orders orders) {
		Observation caller = Observation.start("caller", registry);
		caller.scoped(() -> orders.close(5));
		orders.fail();
		app.advance(DELAY);
		assertThat(observed).hasSize(2).allMatch((observation) -> observation.getParentObservation() == null);
	}

	@Test
	void anAsynchronousBodyIsObservedUntilItsFutureEnds(Orders orders) {
		CompletableFuture<String> inner = new CompletableFuture<>();
		orders.follow(inner);
		app.advance(DELAY);
		assertThat(observed).isEmpty();
		inner.completeExceptionally(new IllegalStateException("late"));
		assertThat(observation().getError()).isInstanceOf(IllegalStateException.class);
		assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("outcome", "ERROR"));
	}

	@Test
	void aFutureThatCannotCallBackIsObservedUntilItsEndToo(Orders orders) {
		FutureTask<String> inner = new FutureTask<>(() -> "late");
		orders.follow(inner);
		app.advance(DELAY);
		assertThat(observed).isEmpty();
		inner.run();
		await().until(() -> !observed.isEmpty());
		assertThat(observation().getLowCardinalityKeyValues()).contains(KeyValue.of("outcome", "SUCCESS"));
	}

	@Test
	void theBodyRunsWithinItsObservationAndATaskThatItSchedulesHasItsOwn() throws Exception {
		DelayedTask<DelayedTask<Observation>> task = app.tasks()
			.schedule(DELAY, () -> app.tasks().schedule(DELAY, registry::getCurrentObservation));
		app.advance(DELAY);
		app.advance(DELAY);
		assertThat(observed).hasSize(2);
		assertThat(task.get().get().getContextView()).isSameAs(observed.get(1));
		assertThat(registry.getCurrentObservation()).isNull();
	}

	@Test
	void aConventionOfTheApplicationNamesTheObservation() {
		try (VirtualApplication application = application(registry).with(DelayedTaskObservationConvention.class,
				CustomConvention::new)) {
			application.bean(Orders.class).close(5);
			application.advance(DELAY);
			assertThat(observation().getName()).isEqualTo("my.tasks");
			assertThat(observation().getLowCardinalityKeyValues()).containsExactly(KeyValue.of("task", "close-order"));
		}
	}

	@Test
	void nothingIsObservedWhenSwitchedOff() {
		ObservationRegistry switchedOff = ObservationRegistry.create();
		switchedOff.observationConfig().observationHandler(new Recorder());
		try (VirtualApplication application = VirtualApplication.of(BootObservations.class, Orders.class)
			.with(ObservationRegistry.class, () -> switchedOff)
			.with("management.observations.enable.timingwheel.task.execution=false")) {
			application.bean(Orders.class).close(5);
			application.advance(DELAY);
			assertThat(observed).isEmpty();
		}
	}

	@Test
	void nothingIsObservedWithoutARegistry() {
		try (VirtualApplication application = VirtualApplication.of(Observations.class)) {
			assertThat(application.context().getBeansOfType(ObservedTaskExecution.class)).isEmpty();
		}
	}

	@Test
	void interceptorsOfTheApplicationAreAroundTheBodyTogetherWithTheObservation() {
		List<TaskExecution> executions = new ArrayList<>();
		try (VirtualApplication application = application(registry)
			.with("inner", TaskExecutionInterceptor.class, () -> new Recording("inner", 1, executions))
			.with("outer", TaskExecutionInterceptor.class, () -> new Recording("outer", -1, executions))) {
			Observation caller = Observation.start("caller", registry);
			DelayedTask<String> task = caller.scoped(() -> application.bean(Orders.class).close(5));
			caller.stop();
			application.advance(DELAY);
			assertThat(task.completion()).isCompletedWithValue("closed");
			assertThat(app.calls()).containsExactly("outer begins with captured by outer, observed: false",
					"inner begins with captured by inner, observed: true", "inner ends", "outer ends");
			assertThat(executions).hasSize(2).allSatisfy((execution) -> {
				assertThat(execution.name()).isEqualTo("close-order");
				assertThat(execution.id()).isEqualTo(task.id());
				assertThat(execution.taskId()).isEqualTo(task.taskId());
				assertThat(execution.method()).isNotNull();
				assertThat(execution.dueAt()).isEqualTo(observation().getExecution().dueAt());
				assertThat(execution.lateness()).isEqualTo(observation().getExecution().lateness());
				assertThat(execution.attempt()).isOne();
				assertThat(execution.deliveries()).isOne();
			});
		}
	}

	private static DelayedTaskObservationContext observation() {
		assertThat(observed).hasSize(1);
		return observed.get(0);
	}

	private static final class Recorder implements ObservationHandler<DelayedTaskObservationContext> {

		@Override
		public void onStop(DelayedTaskObservationContext context) {
			observed.add(context);
		}

		@Override
		public boolean supportsContext(Observation.Context context) {
			return context instanceof DelayedTaskObservationContext;
		}

	}

	@ImportAutoConfiguration(TimingWheelObservationAutoConfiguration.class)
	static class Observations {

	}

	@ImportAutoConfiguration({ ObservationAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class })
	static class BootObservations {

	}

	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, TimingWheelMetricsAutoConfiguration.class,
			TimingWheelObservationAutoConfiguration.class })
	static class MeteredObservations {

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

	private record Recording(String name, int order,
			List<TaskExecution> executions) implements TaskExecutionInterceptor, Ordered {

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public Object capture(String task) {
			return "captured by " + this.name;
		}

		@Override
		public @Nullable Object intercept(TaskExecution execution, @Nullable Object captured, Body body)
				throws Throwable {
			this.executions.add(execution);
			app.calls()
				.add("%s begins with %s, observed: %s".formatted(this.name, captured,
						registry.getCurrentObservation() != null));
			try {
				return body.run();
			}
			finally {
				app.calls().add(this.name + " ends");
			}
		}

	}

	static class Orders {

		@Delayed(delay = "30m", name = "close-order", key = "#orderId")
		public DelayedTask<String> close(long orderId) {
			return DelayedTask.completed("closed");
		}

		@Delayed("30m")
		public Future<String> follow(Future<String> inner) {
			return inner;
		}

		@Delayed("30m")
		public DelayedTask<String> fail() {
			throw new IllegalStateException("Failed");
		}

	}

}
