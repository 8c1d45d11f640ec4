package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.ReactiveAdapter;
import org.springframework.core.ReactiveAdapterRegistry;
import org.springframework.http.ResponseEntity;
import org.springframework.util.ReflectionUtils;
import org.springframework.web.context.request.async.DeferredResult;
import org.springframework.web.context.request.async.WebAsyncTask;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * {@code @Timeout} on methods whose work goes on, or begins, after they have returned.
 */
@org.junit.jupiter.api.Timeout(60)
public class LaterResultTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final AtomicBoolean cancelled = new AtomicBoolean();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TimingWheelAutoConfiguration.class))
		.withBean(TimingWheelBuilderCustomizer.class, () -> (builder) -> builder.timeSource(this.time))
		.withBean(Service.class);

	@AfterEach
	void noInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "flow", "single", "maybe", "completable", "observable", "flowable", "object" })
	void whatSpringAdaptsToAPublisherIsLimitedForEachSubscription(String method) {
		this.runner.run((context) -> {
			Object returned = call(context.getBean(Service.class), method,
					Mono.never().doOnCancel(() -> this.cancelled.set(true)));
			this.time.advance(LIMIT);
			assertThat(context.getBean(TimingWheel.class).pending()).isZero();
			CompletableFuture<?> result = subscribe(returned);
			this.time.advance(LIMIT.minusNanos(1));
			assertThat(result).isNotDone();
			this.time.advance(Duration.ofNanos(1));
			assertThat(result).failsWithin(60, TimeUnit.SECONDS)
				.withThrowableThat()
				.withCauseExactlyInstanceOf(MethodTimeoutException.class);
			await().untilTrue(this.cancelled);
			assertThat(subscribe(call(context.getBean(Service.class), method, Mono.just("in time")))).isDone();
			assertThat(context.getBean(TimingWheel.class).pending()).isZero();
		});
	}

	private static CompletableFuture<?> subscribe(Object returned) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, returned);
		return Mono.from(adapter.toPublisher(returned)).toFuture();
	}

	private static Object call(Service service, String method, Publisher<?> source) {
		return ReflectionUtils.invokeMethod(ReflectionUtils.findMethod(Service.class, method, Publisher.class), service,
				source);
	}

	@Test
	void coroutinesAreLimited() {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TimingWheelAutoConfiguration.class))
			.withBean(KotlinLimits.class)
			.run((context) -> {
				KotlinLimits limits = context.getBean(KotlinLimits.class);
				assertThatExceptionOfType(MethodTimeoutException.class)
					.isThrownBy(() -> BlockingLimits.suspending(limits));
				assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> BlockingLimits.flow(limits));
				assertThatExceptionOfType(MethodTimeoutException.class)
					.isThrownBy(() -> BlockingLimits.deferred(limits));
			});
		this.runner.withBean(KotlinSequence.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("cannot limit the work of the Sequence"));
	}

	@Test
	void eachCallOfACallableIsLimited() {
		this.runner.run((context) -> {
			Callable<String> callable = context.getBean(Service.class).callable(this::work);
			this.time.advance(LIMIT);
			this.workTime = LIMIT.minusNanos(1);
			assertThat(callable.call()).isEqualTo("work");
			this.workTime = LIMIT;
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(callable::call);
			assertThat(context.getBean(Service.class).callableOrFallback(this::work).call()).isEqualTo("fallback");
			assertThat(context.getBean(TimingWheel.class).pending()).isZero();
		});
	}

	private Duration workTime = Duration.ZERO;

	private String work() {
		this.time.advance(this.workTime);
		return "work";
	}

	@Test
	void aTaskOfACallableKeepsItsSettings() {
		this.runner.run((context) -> {
			WebAsyncTask<String> source = new WebAsyncTask<>(5_000L, this::work);
			source.onTimeout(() -> "timed out");
			WebAsyncTask<String> task = context.getBean(Service.class).task(source);
			assertThat(task).isNotSameAs(source);
			assertThat(task.getTimeout()).isEqualTo(5_000L);
			assertThat(task).extracting("timeoutCallback").isNotNull();
			assertThat(task).extracting("completionCallback").isNull();
			assertThat(task.getExecutor()).isNull();
			this.workTime = LIMIT;
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> task.getCallable().call());
		});
	}

	@Test
	void aDeferredResultGetsTheTimeoutOrTheFallback() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			DeferredResult<String> source = new DeferredResult<>();
			DeferredResult<String> inTime = new DeferredResult<>();
			assertThat(service.deferred(source)).isSameAs(source);
			service.deferred(inTime);
			DeferredResult<String> fallback = service.deferredOrFallback();
			inTime.setResult("in time");
			this.time.advance(LIMIT.minusNanos(1));
			assertThat(source.hasResult()).isFalse();
			this.time.advance(Duration.ofNanos(1));
			await().until(source::hasResult);
			assertThat(source.getResult()).isInstanceOf(MethodTimeoutException.class);
			await().until(fallback::hasResult);
			assertThat(fallback.getResult()).isEqualTo("fallback");
			assertThat(inTime.getResult()).isEqualTo("in time");
		});
	}

	@Test
	void anObjectThatTurnsOutToComeLaterIsLimitedOrRefused() {
		this.runner.run((context) -> {
			Service service = context.getBean(Service.class);
			this.workTime = LIMIT;
			Callable<?> callable = (Callable<?>) service.anything((Callable<String>) this::work);
			assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(callable::call);
			this.workTime = Duration.ZERO;
			assertThatIllegalStateException().isThrownBy(() -> service.anything((Supplier<String>) this::work))
				.withMessageContaining("Service#anything(Object)")
				.withMessageContaining("; return the result itself, or a CompletableFuture");
			assertThatIllegalStateException().isThrownBy(() -> service.entity(Flux.never()));
			assertThatIllegalStateException().isThrownBy(() -> service.optional(new CompletableFuture<>()));
			assertThat(service.entity("body").getBody()).isEqualTo("body");
			for (Object value : List.of("text", new Email("a@b"), Level.HIGH)) {
				assertThat(service.anything(value)).isSameAs(value);
			}
		});
	}

	/** Holds what it supplies. */
	record Email(String get) implements Supplier<String> {

	}

	/** The class of the constant is no enum. */
	enum Level implements LongSupplier {

		HIGH {

			@Override
			public long getAsLong() {
				return 2;
			}

		}

	}

	public static class Service {

		@Timeout("800ms")
		public Flow.Publisher<?> flow(Publisher<?> source) {
			return org.reactivestreams.FlowAdapters.toFlowPublisher(source);
		}

		@Timeout("800ms")
		public Single<?> single(Publisher<?> source) {
			return Single.fromPublisher(source);
		}

		@Timeout("800ms")
		public Maybe<?> maybe(Publisher<?> source) {
			return Maybe.fromPublisher(source);
		}

		@Timeout("800ms")
		public Completable completable(Publisher<?> source) {
			return Completable.fromPublisher(source);
		}

		@Timeout("800ms")
		public Observable<?> observable(Publisher<?> source) {
			return Observable.fromPublisher(source);
		}

		@Timeout("800ms")
		public Flowable<?> flowable(Publisher<?> source) {
			return Flowable.fromPublisher(source);
		}

		@Timeout("800ms")
		public Object object(Publisher<?> source) {
			return Single.fromPublisher(source);
		}

		@Timeout("800ms")
		public Callable<String> callable(Callable<String> source) {
			return source;
		}

		@Timeout(timeout = "800ms", fallback = "otherCallable")
		public Callable<String> callableOrFallback(Callable<String> source) {
			return source;
		}

		private Callable<String> otherCallable(Callable<String> source) {
			return () -> "fallback";
		}

		@Timeout("800ms")
		public WebAsyncTask<String> task(WebAsyncTask<String> source) {
			return source;
		}

		@Timeout("800ms")
		public DeferredResult<String> deferred(DeferredResult<String> source) {
			return source;
		}

		@Timeout(timeout = "800ms", fallback = "otherDeferred")
		public DeferredResult<String> deferredOrFallback() {
			return new DeferredResult<>();
		}

		private DeferredResult<String> otherDeferred() {
			DeferredResult<String> result = new DeferredResult<>();
			result.setResult("fallback");
			return result;
		}

		@Timeout("800ms")
		public Object anything(Object object) {
			return object;
		}

		@Timeout("800ms")
		public ResponseEntity<?> entity(Object body) {
			return ResponseEntity.ok(body);
		}

		@Timeout("800ms")
		public Optional<?> optional(Object content) {
			return Optional.of(content);
		}

	}

}
