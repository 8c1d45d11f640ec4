package io.timingwheel.spring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.reactivex.rxjava3.core.Completable;
import io.reactivex.rxjava3.core.Flowable;
import io.reactivex.rxjava3.core.Maybe;
import io.reactivex.rxjava3.core.Observable;
import io.reactivex.rxjava3.core.Single;
import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
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

/**
 * {@code @Timeout} on methods whose work goes on, or begins, after they have returned.
 */
@org.junit.jupiter.api.Timeout(60)
public class LaterResultTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class);

	private Duration workTime = Duration.ZERO;

	private String work() {
		app.advance(this.workTime);
		return "work";
	}

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(app.timers()).isZero();
		assertThat(Thread.interrupted()).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "flow", "single", "maybe", "completable", "observable", "flowable", "object" })
	void whatSpringAdaptsToAPublisherIsLimitedForEachSubscription(String method) {
		AtomicBoolean cancelled = new AtomicBoolean();
		Object returned = call(method, Mono.never().doOnCancel(() -> cancelled.set(true)));
		app.advance(LIMIT);
		CompletableFuture<?> result = subscribe(returned);
		app.advance(LIMIT.minusNanos(1));
		assertThat(result).isNotDone();
		app.advance(Duration.ofNanos(1));
		assertThat(result).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		assertThat(cancelled).isTrue();
		assertThat(subscribe(call(method, Mono.just("in time")))).isDone();
	}

	private static CompletableFuture<?> subscribe(Object returned) {
		ReactiveAdapter adapter = ReactiveAdapterRegistry.getSharedInstance().getAdapter(null, returned);
		return Mono.from(adapter.toPublisher(returned)).toFuture();
	}

	private static Object call(String method, Publisher<?> source) {
		return ReflectionUtils.invokeMethod(ReflectionUtils.findMethod(Service.class, method, Publisher.class),
				app.bean(Service.class), source);
	}

	@Test
	void coroutinesAreLimited() {
		ApplicationContextRunner realTime = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(AopAutoConfiguration.class, TimingWheelAutoConfiguration.class));
		realTime.withBean(KotlinLimits.class).run((context) -> {
			KotlinLimits limits = context.getBean(KotlinLimits.class);
			for (ThrowingCallable call : List.<ThrowingCallable>of(() -> BlockingLimits.suspending(limits),
					() -> BlockingLimits.flow(limits), () -> BlockingLimits.deferred(limits))) {
				assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(call);
			}
		});
		realTime.withBean(KotlinSequence.class)
			.run((context) -> assertThat(context).getFailure()
				.isExactlyInstanceOf(InvalidAnnotatedMethodException.class)
				.hasMessageContaining("cannot limit the work of the Sequence"));
	}

	@Test
	void eachCallOfACallableIsLimited(Service service) throws Exception {
		Callable<String> callable = service.callable(this::work);
		app.advance(LIMIT);
		this.workTime = LIMIT.minusNanos(1);
		assertThat(callable.call()).isEqualTo("work");
		this.workTime = LIMIT;
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(callable::call);
		assertThat(service.callableOrFallback(this::work).call()).isEqualTo("fallback");
	}

	@Test
	void aTaskOfACallableKeepsItsSettings(Service service) {
		WebAsyncTask<String> source = new WebAsyncTask<>(5_000L, this::work);
		source.onTimeout(() -> "timed out");
		WebAsyncTask<String> task = service.task(source);
		assertThat(task).isNotSameAs(source);
		assertThat(task.getTimeout()).isEqualTo(5_000L);
		assertThat(task).extracting("timeoutCallback").isNotNull();
		assertThat(task).extracting("completionCallback").isNull();
		assertThat(task.getExecutor()).isNull();
		this.workTime = LIMIT;
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> task.getCallable().call());
	}

	@Test
	void aDeferredResultGetsTheTimeoutOrTheFallback(Service service) {
		DeferredResult<String> source = new DeferredResult<>();
		DeferredResult<String> inTime = new DeferredResult<>();
		assertThat(service.deferred(source)).isSameAs(source);
		service.deferred(inTime);
		DeferredResult<String> fallback = service.deferredOrFallback();
		inTime.setResult("in time");
		app.advance(LIMIT.minusNanos(1));
		assertThat(source.hasResult()).isFalse();
		app.advance(Duration.ofNanos(1));
		assertThat(source.getResult()).isInstanceOf(MethodTimeoutException.class);
		assertThat(fallback.getResult()).isEqualTo("fallback");
		assertThat(inTime.getResult()).isEqualTo("in time");
	}

	@Test
	void anObjectThatTurnsOutToComeLaterIsLimitedOrRefused(Service service) {
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

	@Timeout(timeout = "800ms")
	public static class Service {

		public Flow.Publisher<?> flow(Publisher<?> source) {
			return org.reactivestreams.FlowAdapters.toFlowPublisher(source);
		}

		public Single<?> single(Publisher<?> source) {
			return Single.fromPublisher(source);
		}

		public Maybe<?> maybe(Publisher<?> source) {
			return Maybe.fromPublisher(source);
		}

		public Completable completable(Publisher<?> source) {
			return Completable.fromPublisher(source);
		}

		public Observable<?> observable(Publisher<?> source) {
			return Observable.fromPublisher(source);
		}

		public Flowable<?> flowable(Publisher<?> source) {
			return Flowable.fromPublisher(source);
		}

		public Object object(Publisher<?> source) {
			return Single.fromPublisher(source);
		}

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

		public WebAsyncTask<String> task(WebAsyncTask<String> source) {
			return source;
		}

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

		public Object anything(Object object) {
			return object;
		}

		public ResponseEntity<?> entity(Object body) {
			return ResponseEntity.ok(body);
		}

		public Optional<?> optional(Object content) {
			return Optional.of(content);
		}

	}

}
