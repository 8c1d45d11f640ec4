package io.timingwheel.spring.actuate;

import java.lang.management.ManagementFactory;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import io.micrometer.observation.Observation;
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
import io.timingwheel.spring.autoconfigure.TimingWheelObservationAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.http.server.observation.DefaultServerRequestObservationConvention;
import org.springframework.http.server.observation.ServerHttpObservationDocumentation;
import org.springframework.http.server.observation.ServerRequestObservationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a pending task keeps of the observation in which it was scheduled.
 */
class CapturedTraceTests {

	private static final Duration DELAY = Duration.ofMinutes(30);

	private static final int CALLS = 20_000;

	private final ObservationRegistry registry = ObservationRegistry.create();

	private VirtualApplication application() {
		return VirtualApplication.of(Observations.class, Drivers.class)
			.with(ObservationRegistry.class, () -> this.registry);
	}

	private VirtualApplication traced(Sampler sampler) {
		SdkTracerProvider provider = SdkTracerProvider.builder().setSampler(sampler).build();
		Tracer tracer = new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
		});
		this.registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
		return application().with(Tracer.class, () -> tracer);
	}

	@Test
	void theRunIsAChildOfTheSpanInWhichTheCallWasMade() {
		try (VirtualApplication application = traced(Sampler.alwaysOn())) {
			Tracer tracer = application.bean(Tracer.class);
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<TraceContext> task = caller
				.scoped(() -> application.tasks().schedule(DELAY, () -> tracer.currentSpan().context()));
			DelayedTask<TraceContext> annotated = caller.scoped(() -> application.bean(Drivers.class).silent(tracer));
			TraceContext call = caller.scoped(() -> tracer.currentSpan().context());
			caller.stop();
			application.advance(DELAY);
			for (TraceContext run : List.of(task.completion().join(), annotated.completion().join())) {
				assertThat(run.traceId()).isEqualTo(call.traceId());
				assertThat(run.parentId()).isEqualTo(call.spanId());
			}
			assertThat(tracer.currentSpan()).isNull();
		}
	}

	@Test
	void aCallOutsideOfATraceBeginsATrace() {
		try (VirtualApplication application = traced(Sampler.alwaysOn())) {
			DelayedTask<TraceContext> task = application.bean(Drivers.class).silent(application.bean(Tracer.class));
			application.advance(DELAY);
			assertThat(task.completion().join().traceId()).isNotEmpty();
			assertThat(task.completion().join().parentId()).isNull();
		}
	}

	@Test
	void aTraceThatIsNotSampledStaysSo() {
		try (VirtualApplication application = traced(Sampler.parentBased(Sampler.alwaysOff()))) {
			Tracer tracer = application.bean(Tracer.class);
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<TraceContext> task = caller.scoped(() -> application.bean(Drivers.class).silent(tracer));
			String trace = caller.scoped(() -> tracer.currentSpan().context().traceId());
			caller.stop();
			application.advance(DELAY);
			assertThat(task.completion().join().traceId()).isEqualTo(trace);
			assertThat(task.completion().join().sampled()).isFalse();
		}
	}

	@Test
	void aPendingTaskDoesNotHoldTheRequestOfItsCaller() {
		for (VirtualApplication each : List.of(application(), traced(Sampler.alwaysOn()))) {
			try (each) {
				WeakReference<?> request = callWithinRequest(each.bean(Drivers.class), 5);
				await().untilAsserted(() -> {
					System.gc();
					assertThat(request.get()).isNull();
				});
				assertThat(each.pending()).isOne();
			}
		}
	}

	@Test
	void aTracerThatDoesNothingCostsNoExceptionPerCall() {
		TaskTraces traces = new TaskTraces(() -> Tracer.NOOP);
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		assertThat(traces.traceparent()).isNull();
		long before = threads.getCurrentThreadAllocatedBytes();
		IntStream.range(0, CALLS).forEach((call) -> traces.traceparent());
		assertThat((threads.getCurrentThreadAllocatedBytes() - before) / CALLS).isLessThan(100);
	}

	/**
	 * Calls a delayed method as within a web request.
	 */
	private WeakReference<?> callWithinRequest(Drivers drivers, long driver) {
		MockHttpServletRequest request = new MockHttpServletRequest("POST", "/drivers/" + driver);
		ServerRequestObservationContext carrier = new ServerRequestObservationContext(request,
				new MockHttpServletResponse());
		Observation observation = ServerHttpObservationDocumentation.HTTP_SERVLET_SERVER_REQUESTS.observation(null,
				new DefaultServerRequestObservationConvention(), () -> carrier, this.registry);
		observation.observe(() -> drivers.offline(driver));
		return new WeakReference<>(request);
	}

	@ImportAutoConfiguration(TimingWheelObservationAutoConfiguration.class)
	static class Observations {

	}

	static class Drivers {

		@Delayed(delay = "30m", key = "#driver")
		public void offline(long driver) {
		}

		@Delayed("30m")
		public DelayedTask<TraceContext> silent(Tracer tracer) {
			return DelayedTask.completed(tracer.currentSpan().context());
		}

	}

}
