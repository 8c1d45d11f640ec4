package io.timingwheel.spring.actuate;

import java.lang.ref.WeakReference;
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
import io.micrometer.tracing.TraceContext;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.internal.TaskExecution;
import io.timingwheel.spring.task.internal.TaskExecution.Body;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.core.Ordered;
import org.springframework.http.server.observation.DefaultServerRequestObservationConvention;
import org.springframework.http.server.observation.ServerHttpObservationDocumentation;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Observations of the runs of tasks, and the traces that they continue. */
class DelayedTaskObservationTests {

	private static final Duration DELAY = Duration.ofMinutes(30);

	private static final ObservationRegistry registry = observed();

	private static final List<DelayedTaskObservationContext> observed = new CopyOnWriteArrayList<>();

	@RegisterExtension
	static final VirtualApplication app = application(registry, Observations.class);

	private static ObservationRegistry observed() {
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(new Recorder());
		return registry;
	}

	private static VirtualApplication application(ObservationRegistry registry, Class<?> configuration) {
		return VirtualApplication.of(configuration, Orders.class).with(ObservationRegistry.class, () -> registry);
	}

	private static VirtualApplication traced(Sampler sampler) {
		SdkTracerProvider provider = SdkTracerProvider.builder().setSampler(sampler).build();
		Tracer tracer = new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
		});
		ObservationRegistry registry = ObservationRegistry.create();
		registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
		return application(registry, Observations.class).with(Tracer.class, () -> tracer);
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
	void aFailureIsObservedAndATaskOfTheTemplateByItsName() {
		app.tasks().task(() -> {
			throw new IllegalStateException("Failed");
		}).name("ping").after(DELAY);
		app.advance(DELAY);
		assertThat(observation().getError()).isInstanceOf(IllegalStateException.class);
		assertThat(observation().getLowCardinalityKeyValues()).containsExactlyInAnyOrder(
				KeyValue.of("code.function", "ping"), KeyValue.of("code.namespace", "none"),
				KeyValue.of("exception", "IllegalStateException"), KeyValue.of("outcome", "ERROR"));
	}

	@Test
	void namesMadeUpAtRunTimeDoNotHaveMetersWithoutLimit() {
		MeterRegistry meters = new SimpleMeterRegistry();
		ObservationRegistry metered = ObservationRegistry.create();
		metered.observationConfig().observationHandler(new DefaultMeterObservationHandler(meters));
		try (VirtualApplication application = application(metered, MeteredObservations.class).with(MeterRegistry.class,
				() -> meters)) {
			IntStream.range(0, 150)
				.forEach((i) -> application.tasks().task(() -> "done").name("name-" + i).after(DELAY));
			application.advance(DELAY);
			assertThat(meters.get("timingwheel.task.execution").timers()).hasSize(100);
		}
	}

	@Test
	void anAsynchronousBodyIsObservedUntilItsFutureEndsAlsoIfTheFutureCannotCallBack(Orders orders) {
		CompletableFuture<String> failing = new CompletableFuture<>();
		FutureTask<String> plain = new FutureTask<>(() -> "late");
		orders.follow(failing);
		orders.follow(plain);
		app.advance(DELAY);
		assertThat(observed).isEmpty();
		failing.completeExceptionally(new IllegalStateException("late"));
		assertThat(observation().getError()).isInstanceOf(IllegalStateException.class);
		plain.run();
		await().until(() -> observed.size() == 2);
		assertThat(observed.get(1).getLowCardinalityKeyValues()).contains(KeyValue.of("outcome", "SUCCESS"));
	}

	@Test
	void theBodyRunsWithinItsObservationAndATaskThatItSchedulesHasItsOwn() throws Exception {
		Observation caller = Observation.start("caller", registry);
		DelayedTask<DelayedTask<Observation>> task = caller.scoped(
				() -> app.tasks().schedule(DELAY, () -> app.tasks().schedule(DELAY, registry::getCurrentObservation)));
		app.advance(DELAY);
		app.advance(DELAY);
		assertThat(observed).hasSize(2)
			.as("the observation of the call is not kept")
			.allMatch((observation) -> observation.getParentObservation() == null);
		assertThat(task.get().get().getContextView()).isSameAs(observed.get(1));
		assertThat(registry.getCurrentObservation()).isNull();
	}

	@Test
	void aConventionOfTheApplicationNamesTheObservation() {
		try (VirtualApplication application = application(registry, Observations.class)
			.with(DelayedTaskObservationConvention.class, CustomConvention::new)) {
			application.bean(Orders.class).close(5);
			application.advance(DELAY);
			assertThat(observation().getName()).isEqualTo("my.tasks");
			assertThat(observation().getLowCardinalityKeyValues()).containsExactly(KeyValue.of("task", "close-order"));
		}
	}

	@Test
	void interceptorsOfTheApplicationAreAroundTheBodyTogetherWithTheObservation() {
		List<TaskExecution> executions = new ArrayList<>();
		try (VirtualApplication application = application(registry, Observations.class)
			.with("inner", TaskExecution.Interceptor.class, () -> new Recording("inner", 1, executions))
			.with("outer", TaskExecution.Interceptor.class, () -> new Recording("outer", -1, executions))) {
			DelayedTask<String> task = application.bean(Orders.class).close(5);
			application.advance(DELAY);
			assertThat(task.completion()).isCompletedWithValue("closed");
			assertThat(app.calls()).containsExactly("outer begins, observed: false", "inner begins, observed: true",
					"inner ends", "outer ends");
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

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void theRunIsAChildOfTheSpanInWhichTheCallWasMadeAndIsSampledAsThatSpan(boolean sampled) {
		try (VirtualApplication application = traced(
				Sampler.parentBased(sampled ? Sampler.alwaysOn() : Sampler.alwaysOff()))) {
			Tracer tracer = application.bean(Tracer.class);
			Observation caller = Observation.start("caller", application.bean(ObservationRegistry.class));
			DelayedTask<TraceContext> task = caller
				.scoped(() -> application.tasks().schedule(DELAY, () -> tracer.currentSpan().context()));
			DelayedTask<TraceContext> annotated = caller.scoped(() -> application.bean(Orders.class).trace(tracer));
			TraceContext call = caller.scoped(() -> tracer.currentSpan().context());
			caller.stop();
			application.advance(DELAY);
			for (TraceContext run : List.of(task.completion().join(), annotated.completion().join())) {
				assertThat(run.traceId()).isEqualTo(call.traceId());
				assertThat(run.parentId()).isEqualTo(sampled ? call.spanId() : null);
				assertThat(run.sampled()).isEqualTo(sampled);
			}
			assertThat(tracer.currentSpan()).isNull();
		}
	}

	@Test
	void aCallOutsideOfATraceBeginsATrace() {
		try (VirtualApplication application = traced(Sampler.alwaysOn())) {
			DelayedTask<TraceContext> task = application.bean(Orders.class).trace(application.bean(Tracer.class));
			application.advance(DELAY);
			assertThat(task.completion().join().traceId()).isNotEmpty();
			assertThat(task.completion().join().parentId()).isNull();
		}
	}

	@Test
	void aPendingTaskDoesNotHoldTheRequestOfItsCaller() {
		for (VirtualApplication each : List.of(application(observed(), Observations.class),
				traced(Sampler.alwaysOn()))) {
			try (each) {
				WeakReference<?> request = callWithinRequest(each);
				await().untilAsserted(() -> {
					System.gc();
					assertThat(request.get()).isNull();
				});
				assertThat(each.pending()).isOne();
			}
		}
	}

	private static WeakReference<?> callWithinRequest(VirtualApplication application) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/orders/5");
		ServerRequestObservationContext carrier = new ServerRequestObservationContext(request,
				new MockHttpServletResponse());
		ServerHttpObservationDocumentation.HTTP_SERVLET_SERVER_REQUESTS
			.observation(null, new DefaultServerRequestObservationConvention(), () -> carrier,
					application.bean(ObservationRegistry.class))
			.observe(() -> application.bean(Orders.class).close(5));
		return new WeakReference<>(request);
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

	@ImportAutoConfiguration(TimingWheelActuatorAutoConfiguration.class)
	static class Observations {

	}

	@ImportAutoConfiguration({ MetricsAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class })
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
			List<TaskExecution> executions) implements TaskExecution.Interceptor, Ordered {

		@Override
		public int getOrder() {
			return this.order;
		}

		@Override
		public @Nullable Object intercept(TaskExecution execution, Body body) throws Throwable {
			this.executions.add(execution);
			app.calls().add("%s begins, observed: %s".formatted(this.name, registry.getCurrentObservation() != null));
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
		public DelayedTask<TraceContext> trace(Tracer tracer) {
			return DelayedTask.completed(tracer.currentSpan().context());
		}

	}

}
