package io.timingwheel.spring.aop.internal.delayed;

import java.util.concurrent.Callable;
import java.util.concurrent.Executors;

import io.timingwheel.spring.aop.internal.ReactiveTypes;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

import org.springframework.core.ReactiveAdapter;
import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * Cancels a task at the normal completion of each subscription of a publisher. In a
 * reactive transaction the task is cancelled after the commit. Only this class needs
 * Reactor, which is optional.
 */
final class ReactorCancellation {

	private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.reactive.TransactionSynchronizationManager",
			ReactorCancellation.class.getClassLoader());

	private final PendingCancellation cancellation;

	private ReactorCancellation(PendingCancellation cancellation) {
		this.cancellation = cancellation;
	}

	/** Gives what the caller gets, {@code null} if the method returned no publisher. */
	static @Nullable Object apply(Object returned, Class<?> declared, PendingCancellation cancellation) {
		ReactiveAdapter adapter = ReactiveTypes.adapterOf(returned.getClass());
		if (adapter == null || !declared.isAssignableFrom(adapter.getReactiveType())) {
			return null;
		}
		Publisher<?> source = adapter.toPublisher(returned);
		ReactorCancellation reactor = new ReactorCancellation(cancellation);
		return adapter.fromPublisher(
				adapter.isMultiValue() ? reactor.apply(Flux.from(source)) : reactor.apply(Mono.from(source)));
	}

	private <T> Flux<T> apply(Flux<T> source) {
		return source.concatWith(cancel().then(Mono.empty()));
	}

	private <T> Mono<T> apply(Mono<T> source) {
		// The value comes after the cancellation, since the value may end a transaction.
		return source.concatWith(cancel().then(Mono.empty())).singleOrEmpty();
	}

	private Mono<Void> cancel() {
		if (!TRANSACTIONS_PRESENT) {
			return cancelNow();
		}
		return AfterCommit.register(call(this.cancellation::forLater).map(this::cancelLater))
			.flatMap((deferred) -> deferred ? Mono.empty() : cancelNow());
	}

	private Mono<Void> cancelNow() {
		return call(Executors.callable(this.cancellation::runWithTransaction)).then();
	}

	private Mono<Void> cancelLater(Runnable prepared) {
		return call(Executors.callable(prepared)).doOnError(this.cancellation::logFailure).onErrorComplete().then();
	}

	/** A thread that must not block leaves the calls to a store to another thread. */
	private <T> Mono<T> call(Callable<T> action) {
		return Mono.defer(() -> {
			Mono<T> call = Mono.fromCallable(action);
			return (Schedulers.isInNonBlockingThread() && this.cancellation.isBlocking())
					? call.subscribeOn(Schedulers.boundedElastic()) : call;
		});
	}

	/**
	 * An action of a reactive transaction. Only this class also needs {@code spring-tx}.
	 */
	private record AfterCommit(Mono<Void> action) implements TransactionSynchronization {

		/** Gives whether there is a transaction. */
		static Mono<Boolean> register(Mono<Mono<Void>> preparation) {
			return TransactionSynchronizationManager.forCurrentTransaction()
				.onErrorComplete(NoTransactionException.class)
				.filter((manager) -> manager.isSynchronizationActive() && manager.isActualTransactionActive())
				.flatMap((manager) -> preparation
					.doOnNext((action) -> manager.registerSynchronization(new AfterCommit(action)))
					.thenReturn(true))
				.defaultIfEmpty(false);
		}

		@Override
		public Mono<Void> afterCompletion(int status) {
			return (status == STATUS_COMMITTED) ? this.action : Mono.empty();
		}

	}

}
