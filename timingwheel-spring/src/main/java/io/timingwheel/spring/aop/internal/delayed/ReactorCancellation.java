package io.timingwheel.spring.aop.internal.delayed;

import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;

/**
 * Cancels a task at the normal completion of each subscription of a publisher. Only this
 * class needs Reactor, which is optional.
 */
final class ReactorCancellation {

	private ReactorCancellation() {
	}

	/** Gives what the caller gets in place of a publisher. */
	static Object apply(Object returned, ReactiveAdapter adapter, PendingCancellation cancellation) {
		Flux<?> result = apply(Flux.from(adapter.toPublisher(returned)), cancellation);
		// The only value comes after the cancellation.
		return adapter.fromPublisher(adapter.isMultiValue() ? result : result.singleOrEmpty());
	}

	/** A thread that must not block leaves the call of a store to another thread. */
	private static <T> Flux<T> apply(Flux<T> source, PendingCancellation cancellation) {
		return source.concatWith(Mono.defer(() -> {
			Mono<T> cancel = Mono.fromRunnable(cancellation::runWithTransaction);
			return (Schedulers.isInNonBlockingThread() && cancellation.isBlocking())
					? cancel.subscribeOn(Schedulers.boundedElastic()) : cancel;
		}));
	}

}
