package io.timingwheel.spring.aop;

import java.time.Duration;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;

import io.timingwheel.spring.VirtualApplication;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Many calls whose return races with their deadline. Two threads make the calls. The
 * bodies are busy loops that advance the wheel's time, so each thread fires the timers of
 * the other with a precision of microseconds, even on a busy machine. Each body aims at
 * its deadline: a little later after a call that was in time, and a little earlier after
 * a call that timed out. After each call the interrupt flag must be what it was before
 * the call.
 */
@org.junit.jupiter.api.Timeout(300)
class InterruptGuardStressTests {

	private static final long LIMIT = 4_000;

	@RegisterExtension
	static final VirtualApplication app = VirtualApplication.of(Service.class).with("timingwheel.tick=1us");

	private final Service service = app.bean(Service.class);

	private final ReentrantLock advancing = new ReentrantLock();

	private long advancedTo = System.nanoTime();

	@Test
	void interruptFlagIsUnchangedAfterCallsThatEndAtTheirDeadline() {
		interruptFlagIsUnchangedAfter(60_000);
	}

	@Test
	@Tag("faults")
	void interruptFlagIsUnchangedAfterAMillionCallsThatEndAtTheirDeadline() {
		interruptFlagIsUnchangedAfter(1_000_000);
	}

	private void interruptFlagIsUnchangedAfter(int calls) {
		Caller[] callers = { new Caller(1, calls / 2), new Caller(2, calls / 2) };
		for (Caller caller : callers) {
			caller.start();
		}
		int timedOut = 0;
		for (Caller caller : callers) {
			timedOut += caller.timedOut.join();
		}
		assertThat(timedOut).isBetween(calls / 10, calls / 10 * 9);
		assertThat(app.timers()).isZero();
	}

	private void advanceTime() {
		if (this.advancing.tryLock()) {
			try {
				long now = System.nanoTime();
				app.advance(Duration.ofNanos(now - this.advancedTo));
				this.advancedTo = now;
			}
			finally {
				this.advancing.unlock();
			}
		}
	}

	private static void spin(long nanos) {
		long started = System.nanoTime();
		while (System.nanoTime() - started < nanos) {
			Thread.onSpinWait();
		}
	}

	private final class Caller extends Thread {

		final CompletableFuture<Integer> timedOut = new CompletableFuture<>();

		private final int calls;

		private final SplittableRandom random;

		/** Used only by the thread that interrupts. */
		private final SplittableRandom lag;

		/** The average time in nanoseconds by which the bodies exceed the limit. */
		private long bias;

		Caller(long seed, int calls) {
			this.calls = calls;
			this.random = new SplittableRandom(seed);
			this.lag = new SplittableRandom(~seed);
		}

		@Override
		public void run() {
			this.timedOut.completeAsync(this::call, Runnable::run);
		}

		/**
		 * Delays the interrupt and the return from this method, so that the call has more
		 * time to return in between.
		 */
		@Override
		public void interrupt() {
			spin(this.lag.nextLong(4_000));
			super.interrupt();
			spin(this.lag.nextLong(4_000));
		}

		/** The limits are shorter than the time that the JVM takes to read a stack. */
		@Override
		public StackTraceElement[] getStackTrace() {
			return new StackTraceElement[0];
		}

		private int call() {
			int timedOut = 0;
			for (int i = 1; i <= this.calls; i++) {
				boolean interruptedBefore = i % 16 == 0;
				if (interruptedBefore) {
					Thread.currentThread().interrupt();
				}
				try {
					if (i % 8 == 1) {
						InterruptGuardStressTests.this.service.outer(this::nested);
					}
					else {
						InterruptGuardStressTests.this.service.single(this::work);
					}
					this.bias += 2;
				}
				catch (MethodTimeoutException ex) {
					timedOut++;
					// Aims at three calls in time for each call that times out, because a
					// timeout takes longer.
					this.bias -= 6;
				}
				if (Thread.interrupted() != interruptedBefore) {
					throw new AssertionError("Call %d: the flag should be %s".formatted(i, interruptedBefore));
				}
			}
			return timedOut;
		}

		private void nested() {
			try {
				InterruptGuardStressTests.this.service.single(this::work);
			}
			catch (MethodTimeoutException ex) {
				work(Math.abs(spread()));
				throw ex;
			}
		}

		private void work() {
			work(LIMIT + this.bias + spread());
		}

		private long spread() {
			return this.random.nextLong(-2_000, 2_000);
		}

		private void work(long nanos) {
			long started = System.nanoTime();
			do {
				advanceTime();
			}
			while (System.nanoTime() - started < nanos);
		}

	}

	static class Service {

		@Timeout("PT0.000004S")
		public void single(Runnable body) {
			body.run();
		}

		@Timeout("PT0.000005S")
		public void outer(Runnable body) {
			body.run();
		}

	}

}
