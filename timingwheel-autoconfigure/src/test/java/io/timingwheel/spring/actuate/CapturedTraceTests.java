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
import io.timingwheel.ManualTimeSource;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.autoconfigure.TimingWheelAutoConfiguration;
import io.timingwheel.spring.autoconfigure.TimingWheelBuilderCustomizer;
import io.timingwheel.spring.autoconfigure.TimingWheelObservationAutoConfiguration;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.task.TaskExecutionAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
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

	private static final Log logger = LogFactory.getLog(CapturedTraceTests.class);

	private static final Duration DELAY = Duration.ofMinutes(30);

	private static final int CALLS = 20_000;

	private final ManualTimeSource time = new ManualTimeSource();

	private final ObservationRegistry registry = ObservationRegistry.create();

	private final ApplicationContextRunner contextRunner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(TaskExecutionAutoConfiguration.class,
				TimingWheelAutoConfiguration.class, TimingWheelObservationAutoConfiguration.class))
		.withBean(ObservationRegistry.class, () -> this.registry)
		.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(this.time))
		.withBean("drivers", Drivers.class);

	@Test
	void theRunIsAChildOfTheSpanInWhichTheCallWasMade() {
		withTracer(Sampler.alwaysOn()).run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			Tracer tracer = context.getBean(Tracer.class);
			DelayedTask<TraceContext> task = caller.scoped(() -> context.getBean(Drivers.class).silent(5));
			TraceContext call = caller.scoped(() -> tracer.currentSpan().context());
			caller.stop();
			this.time.advance(DELAY);
			await().until(task::isDone);
			assertThat(task.get().traceId()).isEqualTo(call.traceId());
			assertThat(task.get().parentId()).isEqualTo(call.spanId());
			assertThat(tracer.currentSpan()).isNull();
		});
	}

	@Test
	void aCallOutsideOfATraceBeginsATrace() {
		withTracer(Sampler.alwaysOn()).run((context) -> {
			DelayedTask<TraceContext> task = context.getBean(Drivers.class).silent(5);
			this.time.advance(DELAY);
			await().until(task::isDone);
			assertThat(task.get().traceId()).isNotEmpty();
			assertThat(task.get().parentId()).isNull();
		});
	}

	@Test
	void aTraceThatIsNotSampledStaysSo() {
		withTracer(Sampler.parentBased(Sampler.alwaysOff())).run((context) -> {
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<TraceContext> task = caller.scoped(() -> context.getBean(Drivers.class).silent(5));
			String trace = caller.scoped(() -> context.getBean(Tracer.class).currentSpan().context().traceId());
			caller.stop();
			this.time.advance(DELAY);
			await().until(task::isDone);
			assertThat(task.get().traceId()).isEqualTo(trace);
			assertThat(task.get().sampled()).isFalse();
		});
	}

	@Test
	void theTemplateContinuesTheTraceToo() {
		withTracer(Sampler.alwaysOn()).run((context) -> {
			Tracer tracer = context.getBean(Tracer.class);
			Observation caller = Observation.start("caller", this.registry);
			DelayedTask<String> task = caller.scoped(() -> context.getBean(DelayedTaskOperations.class)
				.schedule(DELAY, () -> tracer.currentSpan().context().traceId()));
			String trace = caller.scoped(() -> tracer.currentSpan().context().traceId());
			this.time.advance(DELAY);
			await().until(task::isDone);
			assertThat(task.get()).isEqualTo(trace);
		});
	}

	@Test
	void aPendingTaskDoesNotHoldTheRequestOfItsCaller() {
		for (ApplicationContextRunner runner : List.of(this.contextRunner, withTracer(Sampler.alwaysOn()))) {
			runner.run((context) -> {
				WeakReference<?> request = callWithinRequest(context.getBean(Drivers.class), 5);
				await().untilAsserted(() -> {
					System.gc();
					assertThat(request.get()).isNull();
				});
				assertThat(context.getBean(DelayedTaskRegistry.class).pendingCount()).isOne();
			});
		}
	}

	@Test
	@Tag("measuring")
	void aPendingKeyedCallThatWasMadeWithinARequestTakesLittleHeap() {
		for (ApplicationContextRunner runner : List.of(this.contextRunner, withTracer(Sampler.alwaysOn()))) {
			runner.run((context) -> {
				Drivers drivers = context.getBean(Drivers.class);
				DelayedTaskRegistry tasks = context.getBean(DelayedTaskRegistry.class);
				IntStream.range(0, CALLS).forEach((driver) -> callWithinRequest(drivers, -driver));
				// What other threads allocate meanwhile may spoil a measurement.
				await().untilAsserted(() -> {
					tasks.atShutdown().cancelPending();
					long before = usedHeap();
					IntStream.range(0, CALLS).forEach((driver) -> callWithinRequest(drivers, driver));
					long bytes = (usedHeap() - before) / CALLS;
					logger.info("%d bytes of heap per pending call within a request".formatted(bytes));
					assertThat(bytes).isLessThan(400);
					assertThat(tasks.pendingCount()).isEqualTo(CALLS);
				});
			});
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

	private ApplicationContextRunner withTracer(Sampler sampler) {
		SdkTracerProvider provider = SdkTracerProvider.builder().setSampler(sampler).build();
		Tracer tracer = new OtelTracer(provider.get("test"), new OtelCurrentTraceContext(), (event) -> {
		});
		this.registry.observationConfig().observationHandler(new DefaultTracingObservationHandler(tracer));
		Drivers.tracer = tracer;
		return this.contextRunner.withBean(Tracer.class, () -> tracer);
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

	private static long usedHeap() {
		long used = Long.MAX_VALUE;
		for (int i = 0; i < 3; i++) {
			System.gc();
			used = Math.min(used, ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed());
		}
		return used;
	}

	static class Drivers {

		private static Tracer tracer;

		@Delayed(delay = "30m", key = "#driver")
		public void offline(long driver) {
		}

		@Delayed("30m")
		public DelayedTask<TraceContext> silent(long driver) {
			return DelayedTask.completed(tracer.currentSpan().context());
		}

	}

}
