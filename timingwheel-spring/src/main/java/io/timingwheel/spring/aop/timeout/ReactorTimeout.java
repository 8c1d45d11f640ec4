package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.Executor;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/**
 * Limits each subscription of a {@code Mono} or {@code Flux}, from its beginning to its
 * completion. The only class that needs Reactor.
 */
final class ReactorTimeout {

	private final TimeLimit limit;

	private final long nanos;

	private final Deadlines deadlines;

	private final TimeoutEvents events;

	private ReactorTimeout(TimeLimit limit, long nanos, Deadlines deadlines, TimeoutEvents events) {
		this.limit = limit;
		this.nanos = nanos;
		this.deadlines = deadlines;
		this.events = events;
	}

	static Object apply(Object result, Class<?> declared, TimeLimit limit, long nanos, Deadlines deadlines,
			TimeoutEvents events) {
		if (result instanceof Mono<?> mono && declared.isAssignableFrom(Mono.class)) {
			return new ReactorTimeout(limit, nanos, deadlines, events).apply(mono);
		}
		if (result instanceof Flux<?> flux && declared.isAssignableFrom(Flux.class)) {
			return new ReactorTimeout(limit, nanos, deadlines, events).apply(flux);
		}
		return result;
	}

	// The deadline ends the source rather than failing: takeUntilOther cancels it only
	// then.

	private <T> Mono<T> apply(Mono<T> source) {
		return Mono.defer(() -> {
			Deadline deadline = new Deadline();
			return source.takeUntilOther(deadline.signal()).switchIfEmpty(deadline.failure());
		});
	}

	private <T> Flux<T> apply(Flux<T> source) {
		return Flux.defer(() -> {
			Deadline deadline = new Deadline();
			return source.takeUntilOther(deadline.signal()).concatWith(deadline.failure());
		});
	}

	/**
	 * The deadline of one subscription.
	 */
	private final class Deadline {

		private volatile boolean passed;

		/**
		 * Completes at the deadline; its cancellation cancels the timer.
		 */
		Mono<Void> signal() {
			return Mono.create((sink) -> {
				TimerHandle timer = start(sink);
				if (timer != null) {
					sink.onDispose(timer::cancel);
				}
			});
		}

		/**
		 * Fails if the deadline has passed, and is empty otherwise.
		 */
		<T> Mono<T> failure() {
			ReactorTimeout timeout = ReactorTimeout.this;
			return Mono.defer(() -> this.passed ? Mono.error(timeout.limit.exception(timeout.nanos)) : Mono.empty());
		}

		private @Nullable TimerHandle start(MonoSink<Void> sink) {
			Executor executor = ReactorTimeout.this.deadlines.executor();
			DirectTask expiry = () -> executor.execute(() -> expire(sink));
			return ReactorTimeout.this.deadlines.schedule(expiry, ReactorTimeout.this.nanos);
		}

		private void expire(MonoSink<Void> sink) {
			ReactorTimeout.this.events.timedOut(ReactorTimeout.this.limit);
			this.passed = true;
			sink.success();
		}

	}

}
