package io.timingwheel.spring.task.internal;

import java.lang.reflect.Proxy;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.timingwheel.spring.task.DelayedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FutureCompletionTests {

	@Test
	void aFutureThatIsDoneCallsBackAtOnce() {
		assertThat(outcome(done(() -> "value"))).isCompletedWithValue("value");
		IllegalStateException error = new IllegalStateException();
		assertThat(outcome(done(() -> {
			throw error;
		}))).isCompletedExceptionally().failsWithin(0, TimeUnit.SECONDS).withThrowableThat().withCause(error);
		FutureTask<String> cancelled = new FutureTask<>(() -> "never");
		cancelled.cancel(false);
		assertThat(outcome(cancelled)).isCompletedExceptionally()
			.failsWithin(0, TimeUnit.SECONDS)
			.withThrowableThat()
			.isInstanceOf(CancellationException.class);
	}

	@Test
	void aFutureThatIsNotDoneCallsBackSoonAfterItIs() {
		FutureTask<String> future = new FutureTask<>(() -> "value");
		CompletableFuture<Object> outcome = outcome(future);
		assertThat(outcome).isNotDone();
		future.run();
		assertThat(outcome).succeedsWithin(60, TimeUnit.SECONDS).isEqualTo("value");
	}

	@Test
	void theHandleOfADurableTaskShowsNoResultAndCallsBackAtOnce() {
		DelayedTask<?> handle = (DelayedTask<?>) Proxy.newProxyInstance(DelayedTask.class.getClassLoader(),
				new Class<?>[] { DelayedTask.class }, (proxy, method, arguments) -> {
					throw new UnsupportedOperationException();
				});
		assertThat(outcome(handle)).isCompletedWithValue(null);
	}

	private static FutureTask<String> done(java.util.concurrent.Callable<String> body) {
		FutureTask<String> future = new FutureTask<>(body);
		future.run();
		return future;
	}

	private static CompletableFuture<Object> outcome(Future<?> future) {
		CompletableFuture<Object> outcome = new CompletableFuture<>();
		FutureCompletion.whenDone(future, Runnable::run, (value, error) -> {
			if (error != null) {
				outcome.completeExceptionally(error);
			}
			else {
				outcome.complete(value);
			}
		});
		return outcome;
	}

}
