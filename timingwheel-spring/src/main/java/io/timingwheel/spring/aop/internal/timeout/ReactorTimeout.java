package io.timingwheel.spring.aop.internal.timeout;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.aop.internal.ReactiveTypes;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

import org.springframework.core.CoroutinesUtils;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ReactiveAdapter;
import org.springframework.util.Assert;

/**
 * Limits the time of one subscription of a {@code Mono}, a {@code Flux}, or another type
 * that Spring adapts to them, from the subscription to the completion. Only this class
 * needs Reactor.
 */
final class ReactorTimeout {

	private final LimitedCall call;

	/** What the subscriber gets after the deadline, in the context of the call. */
	private final Callable<@Nullable Object> afterDeadline;

	private final long startNanos;

	private final AtomicBoolean expired = new AtomicBoolean();

	/** Whether there is a limit: the wheel has not stopped. */
	private volatile boolean limited;

	private ReactorTimeout(LimitedCall call, Callable<@Nullable Object> afterDeadline) {
		this.call = call;
		this.afterDeadline = afterDeadline;
		this.startNanos = call.runtime().nanoTime();
	}

	static Object limit(Object returned, InterruptGuard guard) {
		LimitedCall call = guard.call();
		ReactiveAdapter adapter = ReactiveTypes.adapterOf(returned.getClass());
		if (adapter == null || !call.limit().mayReturn(adapter.getReactiveType())) {
			return returned;
		}
		Callable<@Nullable Object> afterDeadline = call.afterDeadline();
		Flux<?> source = Flux.from(adapter.toPublisher(returned));
		Flux<?> limited = Flux.defer(() -> new ReactorTimeout(call, afterDeadline).limit(source));
		return adapter.fromPublisher(adapter.isMultiValue() ? limited : limited.takeLast(1).singleOrEmpty());
	}

	/**
	 * Calls the fallback of a suspend function. Within advice Spring represents the
	 * result of a suspend function as a publisher.
	 */
	@SuppressWarnings("NullAway") // Arguments may be null in CoroutinesUtils, too.
	static Object call(Method fallback, @Nullable Object target, @Nullable Object[] arguments)
			throws InvocationTargetException, IllegalAccessException {
		if (KotlinDetector.isSuspendingFunction(fallback)) {
			Assert.state(target != null, "No object of the fallback");
			return CoroutinesUtils.invokeSuspendingFunction(fallback, target, arguments);
		}
		return Mono.justOrEmpty(fallback.invoke(target, arguments));
	}

	// The signal completes at the deadline instead of failing, because takeUntilOther
	// cancels the source only when the signal completes. The clock decides about what
	// comes while the wheel's thread is late.
	private <T> Flux<T> limit(Flux<T> source) {
		return source.takeUntilOther(deadline())
			.takeWhile((value) -> !isExpired())
			.onErrorResume((ex) -> isExpired(), (ex) -> Mono.empty())
			.concatWith(Flux.defer(this::afterSource));
	}

	/**
	 * Returns a publisher that starts the timer, completes at the deadline, and cancels
	 * the timer when the subscription ends.
	 */
	private Mono<Void> deadline() {
		Executor executor = this.call.runtime().executor();
		return Mono.create((sink) -> {
			DirectTask expiry = () -> executor.execute(() -> {
				expire();
				sink.success();
			});
			TimerHandle timer = this.call.runtime().schedule(expiry, this.startNanos, this.call.nanos());
			if (timer != null) {
				this.limited = true;
				sink.onDispose(timer::cancel);
			}
		});
	}

	private boolean isExpired() {
		if (this.limited && this.call.runtime().nanoTime() - this.startNanos >= this.call.nanos()) {
			expire();
		}
		return this.expired.get();
	}

	private void expire() {
		if (this.expired.compareAndSet(false, true)) {
			this.call.notifyListeners();
		}
	}

	/**
	 * The timeout or the fallback if the deadline has passed, and nothing otherwise.
	 */
	@SuppressWarnings("unchecked")
	private <T> Publisher<T> afterSource() {
		if (!isExpired()) {
			return Mono.empty();
		}
		try {
			Object value = this.afterDeadline.call();
			ReactiveAdapter adapter = (value != null) ? ReactiveTypes.adapterOf(value.getClass()) : null;
			return (adapter != null) ? adapter.toPublisher(value) : (Publisher<T>) Mono.justOrEmpty(value);
		}
		catch (Throwable ex) {
			return Mono.error(ex);
		}
	}

}
