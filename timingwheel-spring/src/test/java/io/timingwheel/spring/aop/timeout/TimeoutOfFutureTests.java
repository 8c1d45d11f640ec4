package io.timingwheel.spring.aop.timeout;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.Handles;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

@org.junit.jupiter.api.Timeout(60)
class TimeoutOfFutureTests {

	private static final Duration LIMIT = Duration.ofMillis(800);

	private final ManualTimeSource time = new ManualTimeSource();

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run).timeSource(this.time).build();

	private final ExecutorService executor = Executors
		.newSingleThreadExecutor((task) -> new Thread(task, "completion"));

	private final Proxies proxies = new Proxies(this.wheel, this.executor);

	private final Service service = this.proxies.proxy(new Service());

	@AfterEach
	void noTimerAndNoInterruptIsLeft() {
		assertThat(Thread.interrupted()).isFalse();
		assertThat(this.wheel.pending()).isZero();
		this.executor.shutdownNow();
	}

	@Test
	void completesExceptionallyAtTheDeadlineAndCancelsTheSource() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		this.time.advance(LIMIT.minusNanos(1));
		assertThat(result).isNotDone();
		this.time.advance(Duration.ofNanos(1));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.havingCause()
			.isExactlyInstanceOf(MethodTimeoutException.class)
			.withMessage(Service.class.getName() + ".future did not finish within 800ms")
			.withCauseExactlyInstanceOf(TimeoutException.class);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result::join);
		await().until(source::isCancelled);
		await().untilAsserted(() -> assertThat(this.proxies.timeouts).hasSize(1));
	}

	@Test
	void theDeadlineCountsFromTheCall() {
		CompletableFuture<String> result = this.service.future(() -> {
			this.time.advance(LIMIT.minusMillis(1));
			return new CompletableFuture<>();
		});
		assertThat(result).isNotDone();
		this.time.advance(Duration.ofMillis(1));
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get);
	}

	@Test
	void completesOnTheExecutorAndNotOnTheWheelsThread() {
		CompletableFuture<Thread> completer = this.service.future(CompletableFuture::new)
			.handle((value, failure) -> Thread.currentThread());
		this.time.advance(LIMIT);
		assertThat(completer.join().getName()).isEqualTo("completion");
	}

	@Test
	void aResultInTimeCancelsTheTimer() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		assertThat(this.wheel.pending()).isOne();
		source.complete("in time");
		assertThat(this.wheel.pending()).isZero();
		assertThat(result).isCompletedWithValue("in time");
		this.time.advance(LIMIT);
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void aFailureInTimeReachesTheCallerAndCancelsTheTimer() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		IllegalStateException failure = new IllegalStateException();
		source.completeExceptionally(failure);
		assertThat(this.wheel.pending()).isZero();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get).withCause(failure);
	}

	@Test
	void aFutureThatIsDoneIsReturnedUnchanged() {
		CompletableFuture<String> done = CompletableFuture.completedFuture("done");
		assertThat(this.service.future(() -> done)).isSameAs(done);
	}

	@Test
	void cancellingTheResultCancelsTheTimerAndTheSource() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		assertThat(result.cancel(true)).isTrue();
		assertThat(this.wheel.pending()).isZero();
		assertThat(source).isCancelled();
	}

	@Test
	void completingTheResultCancelsTheTimerButNotTheSource() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletableFuture<String> result = this.service.future(() -> source);
		result.complete("by hand");
		assertThat(this.wheel.pending()).isZero();
		assertThat(source).isNotDone();
	}

	@Test
	void aCallThatBlocksBeforeItReturnsAStageThrows() {
		CompletableFuture<String> source = new CompletableFuture<>();
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> this.service.future(() -> {
			this.time.advance(LIMIT);
			return source;
		}));
		assertThat(source).isCancelled();
	}

	@Test
	void aStageThatOtherAdviceReturnsLateIsCancelled() {
		CompletableFuture<String> source = new CompletableFuture<>();
		Service service = this.proxies.proxy(new Service(), (invocation) -> {
			Object result = invocation.proceed();
			this.time.advance(LIMIT);
			return result;
		});
		assertThatExceptionOfType(MethodTimeoutException.class).isThrownBy(() -> service.future(() -> source));
		assertThat(source).isCancelled();
	}

	@Test
	void anyStageIsLimited() {
		CompletableFuture<String> source = new CompletableFuture<>();
		CompletionStage<String> result = this.service.stage(source::minimalCompletionStage);
		CompletionStage<String> inTime = this.service.stage(source::minimalCompletionStage);
		assertThat(this.wheel.pending()).isEqualTo(2);
		this.time.advance(LIMIT.minusMillis(1));
		CompletionStage<String> later = this.service.stage(() -> source);
		this.time.advance(Duration.ofMillis(1));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(result.toCompletableFuture()::join);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(inTime.toCompletableFuture()::join);
		source.complete("in time");
		assertThat(later.toCompletableFuture()).isCompletedWithValue("in time");
	}

	@Test
	void aPlainFutureIsCancelledAndItsReadersGetTheTimeout() throws Exception {
		CountDownLatch started = new CountDownLatch(1);
		CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
		ExecutorService workers = Executors.newCachedThreadPool();
		try {
			Future<String> result = this.service.plain(() -> workers.submit(() -> {
				started.countDown();
				try {
					Thread.sleep(Duration.ofHours(1).toMillis());
				}
				catch (InterruptedException ex) {
					interrupted.complete(true);
				}
				return "late";
			}));
			started.await();
			Future<?> reader = workers.submit(() -> result.get());
			this.time.advance(LIMIT);
			assertThat(interrupted.get()).isTrue();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(reader::get)
				.havingCause()
				.isExactlyInstanceOf(ExecutionException.class)
				.withCauseExactlyInstanceOf(MethodTimeoutException.class);
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> result.get(1, TimeUnit.HOURS))
				.withCauseExactlyInstanceOf(MethodTimeoutException.class);
			assertThat(result.isDone()).isTrue();
			assertThat(result.isCancelled()).isFalse();
			await().until(() -> this.proxies.timeouts.size() == 1);
		}
		finally {
			workers.shutdownNow();
		}
	}

	@Test
	void aPlainFutureInTimeKeepsItsResultAndRemovesTheTimerWhenItIsRead() throws Exception {
		FutureTask<String> source = new FutureTask<>(() -> "in time");
		Future<String> result = this.service.plain(() -> source);
		assertThat(result.isDone()).isFalse();
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> result.get(1, TimeUnit.NANOSECONDS));
		assertThat(this.wheel.pending()).isOne();
		source.run();
		assertThat(result.get()).isEqualTo("in time");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aPlainFutureThatIsDoneAtTheDeadlineIsUnchanged() {
		FutureTask<String> source = new FutureTask<>(() -> "in time");
		Future<String> result = this.service.plain(() -> source);
		source.run();
		this.time.advance(LIMIT);
		assertThat(result).isDone();
		assertThat(result.isCancelled()).isFalse();
		assertThat(this.proxies.timeouts).isEmpty();
	}

	@Test
	void cancellingAPlainFutureCancelsTheSourceAndIsNoTimeout() {
		FutureTask<String> source = new FutureTask<>(() -> "unreached");
		Future<String> result = this.service.plain(() -> source);
		assertThat(result.cancel(false)).isTrue();
		assertThat(source).isCancelled();
		assertThat(result.isCancelled()).isTrue();
		assertThatExceptionOfType(CancellationException.class).isThrownBy(result::get);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aFutureOfAnotherDeclaredTypeIsCompletedInPlace() {
		Special source = new Special();
		Special result = this.service.special(() -> source);
		assertThat(result).isSameAs(source);
		this.time.advance(LIMIT);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(result::get)
			.withCauseExactlyInstanceOf(MethodTimeoutException.class);
		await().until(() -> this.proxies.timeouts.size() == 1);
		Special inTime = this.service.special(Special::new);
		inTime.complete("in time");
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aFutureTaskIsCancelledInPlace() {
		FutureTask<String> source = new FutureTask<>(() -> "late");
		assertThat(this.service.task(() -> source)).isSameAs(source);
		this.time.advance(LIMIT);
		await().until(source::isCancelled);
	}

	@Test
	void theLimitEndsWhenACallReturnsTheHandleOfADurableTask() {
		DelayedTask<Void> handle = Handles.withoutResult();
		assertThat(this.service.handle(() -> handle)).isSameAs(handle);
		assertThat(this.wheel.pending()).isZero();
		assertThat(this.service.plain(() -> handle)).isSameAs(handle);
		assertThat(this.wheel.pending()).isZero();
	}

	@Test
	void aStageThatCannotBeReplacedOrCancelledNamesTheRemedy() {
		Promise<String> promise = promise(new CompletableFuture<>());
		assertThatIllegalStateException().isThrownBy(() -> this.service.promise(() -> promise))
			.withMessageContaining("Service#promise(Supplier)")
			.withMessageContaining("declare CompletionStage or CompletableFuture");
		assertThat(this.wheel.pending()).isZero();
	}

	@SuppressWarnings("unchecked")
	private static <T> Promise<T> promise(CompletableFuture<T> future) {
		return (Promise<T>) Proxy.newProxyInstance(Promise.class.getClassLoader(), new Class<?>[] { Promise.class },
				(promise, method, arguments) -> method.invoke(future, arguments));
	}

	@Test
	void aFutureReturnedAsAnObjectIsLimited() {
		CompletableFuture<String> source = new CompletableFuture<>();
		Object result = this.service.object(() -> source);
		this.time.advance(LIMIT);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(((CompletableFuture<?>) result)::join);
		await().until(source::isCancelled);
	}

	interface Promise<T> extends CompletionStage<T> {

	}

	static class Special extends CompletableFuture<String> {

	}

	static class Service {

		@Timeout("800ms")
		public <T> CompletableFuture<T> future(Supplier<CompletableFuture<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> CompletionStage<T> stage(Supplier<CompletionStage<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> Future<T> plain(Supplier<? extends Future<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public Special special(Supplier<Special> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> FutureTask<T> task(Supplier<FutureTask<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public DelayedTask<Void> handle(Supplier<DelayedTask<Void>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public <T> Promise<T> promise(Supplier<Promise<T>> body) {
			return body.get();
		}

		@Timeout("800ms")
		public Object object(Supplier<?> body) {
			return body.get();
		}

	}

}
