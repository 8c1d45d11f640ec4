package io.timingwheel.spring.aop.timeout;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A plain {@code Future}, which tells nobody when it completes: at the deadline the
 * source is cancelled, and what its readers find then is the timeout. The timer is called
 * off when a reader sees that the source is done, and otherwise finds it done.
 */
final class LimitedFuture<T> implements Future<T>, PendingResult {

	private final Future<T> source;

	private final InterruptGuard guard;

	private final TimeoutEvents events;

	private volatile @Nullable MethodTimeoutException timeout;

	LimitedFuture(Future<T> source, InterruptGuard guard, TimeoutEvents events) {
		this.source = source;
		this.guard = guard;
		this.events = events;
	}

	@Override
	public Object follow() {
		return this;
	}

	@Override
	public void expire() {
		if (!this.source.isDone()) {
			this.timeout = this.guard.exception();
			if (this.source.cancel(true)) {
				this.events.timedOut(this.guard.limit());
			}
		}
	}

	@Override
	public void cancelSource() {
		this.source.cancel(true);
	}

	@Override
	public boolean cancel(boolean mayInterruptIfRunning) {
		this.guard.callOff();
		return this.source.cancel(mayInterruptIfRunning);
	}

	@Override
	public boolean isCancelled() {
		return this.source.isCancelled() && this.timeout == null;
	}

	@Override
	public boolean isDone() {
		boolean done = this.source.isDone();
		if (done) {
			this.guard.callOff();
		}
		return done;
	}

	@Override
	public T get() throws InterruptedException, ExecutionException {
		try {
			return this.source.get();
		}
		catch (CancellationException ex) {
			throw explain(ex);
		}
		finally {
			isDone();
		}
	}

	@Override
	public T get(long timeout, TimeUnit unit) throws InterruptedException, ExecutionException, TimeoutException {
		try {
			return this.source.get(timeout, unit);
		}
		catch (CancellationException ex) {
			throw explain(ex);
		}
		finally {
			isDone();
		}
	}

	private CancellationException explain(CancellationException cancellation) throws ExecutionException {
		MethodTimeoutException timeout = this.timeout;
		if (timeout != null) {
			throw new ExecutionException(timeout);
		}
		return cancellation;
	}

}
