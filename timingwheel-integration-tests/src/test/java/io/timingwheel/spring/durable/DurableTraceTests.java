package io.timingwheel.spring.durable;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.tracing.Tracer;
import io.micrometer.tracing.handler.DefaultTracingObservationHandler;
import io.micrometer.tracing.handler.TracingObservationHandler;
import io.micrometer.tracing.otel.bridge.OtelCurrentTraceContext;
import io.micrometer.tracing.otel.bridge.OtelTracer;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.LinkData;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelActuatorAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.jackson.autoconfigure.JacksonAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationHandlerGroup;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.mockito.Mockito.mock;

/**
 * The runs of a stored task have links to the span in which the task was stored, with the
 * bridge to OpenTelemetry.
 */
class DurableTraceTests {

	private final List<SpanData> spans = new CopyOnWriteArrayList<>();

	private final SpanExporter exporter = mock(SpanExporter.class, (call) -> {
		this.spans.addAll(call.getArgument(0));
		return CompletableResultCode.ofSuccess();
	});

	private final Tracer tracer = new OtelTracer(
			SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(this.exporter)).build().get("test"),
			new OtelCurrentTraceContext(), (event) -> {
			});

	private final InMemoryTaskStore store = new InMemoryTaskStore();

	/** The store of another node. */
	private final InMemoryTaskStore other = new InMemoryTaskStore(this.store);

	private ApplicationContextRunner untraced(DelayedTaskStore store) {
		return new ApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(TaskExecutionAutoConfiguration.class, JacksonAutoConfiguration.class,
							ObservationAutoConfiguration.class, TimingWheelAutoConfiguration.class,
							TimingWheelStoreAutoConfiguration.class, TimingWheelActuatorAutoConfiguration.class))
			.withBean(DelayedTaskStore.class, () -> store, (definition) -> definition.setDestroyMethodName(""))
			.withPropertyValues("timingwheel.store.poll-interval=50ms", "timingwheel.store.backoff.initial=10ms",
					"timingwheel.store.lease=5m");
	}

	private ApplicationContextRunner traced(DelayedTaskStore store) {
		return untraced(store).withBean(Tracer.class, () -> this.tracer)
			.withBean(DefaultTracingObservationHandler.class, () -> new DefaultTracingObservationHandler(this.tracer))
			.withBean(ObservationHandlerGroup.class, () -> ObservationHandlerGroup.of(TracingObservationHandler.class));
	}

	@Test
	void theRunsOnAnotherNodeHaveTheLinkToo() {
		traced(this.store).run((caller) -> observe(caller, (tasks) -> {
			tasks.enqueue(TaskId.of("offline", "a"), Duration.ZERO, "a");
			tasks.enqueueAll(List.of(DurableCall.of(TaskId.of("offline", "b"), Duration.ZERO, "b"),
					DurableCall.of("offline", Duration.ZERO, "c")));
		}));
		traced(this.other).withBean("drivers", Drivers.class)
			.run((context) -> awaitRuns(3).forEach((run) -> assertLinked(run, span("call"))));
	}

	@Test
	void eachRetryHasATraceOfItsOwnWithTheLink() {
		traced(this.store).withBean("drivers", Drivers.class).run((context) -> {
			context.getBean(Drivers.class).fail(2);
			observe(context, (tasks) -> context.getBean(Drivers.class).offline("a"));
			List<SpanData> runs = awaitRuns(3);
			runs.forEach((run) -> assertLinked(run, span("call")));
			assertThat(runs).extracting(SpanData::getTraceId).doesNotHaveDuplicates();
			assertThat(runs.get(0).getAttributes().asMap().toString()).contains("IllegalStateException");
		});
	}

	@Test
	void aRunOfACallOutsideOfATraceHasNoLink() {
		traced(this.store).withBean("drivers", Drivers.class).run((context) -> {
			context.getBean(Drivers.class).offline("a");
			SpanData run = awaitRuns(1).get(0);
			assertThat(run.getLinks()).isEmpty();
			assertThat(run.getParentSpanContext().isValid()).isFalse();
		});
	}

	@Test
	void aNodeWithoutATracerRunsATaskWithATraceAndStoresNone() {
		Consumer<ApplicationContext> stores = (caller) -> observe(caller,
				(tasks) -> tasks.enqueue(TaskId.of("offline", "a"), Duration.ZERO, "a"));
		traced(this.store).run(stores::accept);
		untraced(this.other).withBean("drivers", Drivers.class)
			.run((context) -> await().until(() -> context.getBean(Drivers.class).runs() == 1));
		untraced(this.store).run(stores::accept);
		ClaimRequest request = new ClaimRequest("node", Map.of("offline", new Share(1, 0)), 1, false, Duration.ZERO,
				Duration.ofMinutes(5), 1024);
		assertThat(this.other.claim(request).tasks().get(0).traceparent()).isNull();
	}

	private static void observe(ApplicationContext context, Consumer<DelayedTaskOperations> calls) {
		Observation.createNotStarted("call", context.getBean(ObservationRegistry.class))
			.observe(() -> calls.accept(context.getBean(DelayedTaskOperations.class)));
	}

	private static void assertLinked(SpanData run, SpanData call) {
		assertThat(run.getLinks()).extracting(LinkData::getSpanContext).singleElement().satisfies((link) -> {
			assertThat(link.getTraceId()).isEqualTo(call.getTraceId());
			assertThat(link.getSpanId()).isEqualTo(call.getSpanId());
			assertThat(link.isSampled()).isTrue();
		});
		assertThat(run.getTraceId()).isNotEqualTo(call.getTraceId());
		assertThat(run.getParentSpanContext().isValid()).isFalse();
	}

	private SpanData span(String name) {
		return spans(name).get(0);
	}

	private List<SpanData> awaitRuns(int runs) {
		await().until(() -> spans("task offline").size() == runs);
		return spans("task offline");
	}

	private List<SpanData> spans(String name) {
		return new ArrayList<>(this.spans).stream().filter((span) -> span.getName().equals(name)).toList();
	}

	static class Drivers {

		private final AtomicInteger failures = new AtomicInteger();

		private final AtomicInteger runs = new AtomicInteger();

		void fail(int times) {
			this.failures.set(times);
		}

		int runs() {
			return this.runs.get();
		}

		@Delayed(delay = "10ms", name = "offline", key = "#driver", durable = true)
		public void offline(String driver) {
			this.runs.incrementAndGet();
			if (this.failures.getAndDecrement() > 0) {
				throw new IllegalStateException("Failed");
			}
		}

	}

}
