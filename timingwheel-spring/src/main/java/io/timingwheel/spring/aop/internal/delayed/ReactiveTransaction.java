package io.timingwheel.spring.aop.internal.delayed;

import reactor.core.publisher.Mono;

import org.springframework.transaction.NoTransactionException;
import org.springframework.transaction.reactive.TransactionSynchronization;
import org.springframework.transaction.reactive.TransactionSynchronizationManager;

/**
 * The reactive transaction of a subscription. Only this class needs both Reactor and
 * {@code spring-tx}.
 */
final class ReactiveTransaction {

	private ReactiveTransaction() {
	}

	/**
	 * Registers what to do after the commit, if there is a transaction.
	 */
	static Mono<Boolean> afterCommit(Mono<Mono<Void>> preparation) {
		return TransactionSynchronizationManager.forCurrentTransaction()
			.onErrorComplete(NoTransactionException.class)
			.filter((manager) -> manager.isSynchronizationActive() && manager.isActualTransactionActive())
			.flatMap((manager) -> preparation
				.doOnNext((action) -> manager.registerSynchronization(new AfterCommit(action)))
				.thenReturn(true))
			.defaultIfEmpty(false);
	}

	private record AfterCommit(Mono<Void> action) implements TransactionSynchronization {

		@Override
		public Mono<Void> afterCompletion(int status) {
			return (status == STATUS_COMMITTED) ? this.action : Mono.empty();
		}

	}

}
