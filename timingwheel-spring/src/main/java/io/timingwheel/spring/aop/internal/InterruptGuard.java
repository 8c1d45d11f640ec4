package io.timingwheel.spring.aop.internal;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Guards one call with a time limit: interrupts the thread of the call at the deadline,
 * and makes sure that no interrupt outlives the call. A call that returns after the
 * deadline has expired even if the wheel's thread was late. Only the thread of the call
 * uses a guard, but for {@code run()}, {@code interrupt} and {@code cancelAction}.
 *
 * <p>
 * The state changes by compare-and-set, so exactly one side wins:
 *
 * <pre>
 * RUNNING to EXPIRED                      the wheel's thread, at the deadline
 * EXPIRED to INTERRUPTING to INTERRUPTED  the wheel's thread, or that of DeadlineStacks
 * RUNNING to RETURNED                     the call returns in time
 * RUNNING or EXPIRED to CLEARED           the call returns late, and nobody interrupts
 * INTERRUPTED to CLEARED                  the call has waited for this, and clears the flag
 * RUNNING to HANDED_OVER                  the call returns a future in time: the deadline
 *                                         runs an action instead
 * HANDED_OVER to RETURNED                 the deadline, or cancelAction()
 * </pre>
 *
 * <p>
 * The guards of nested calls on one thread are linked. The outermost guard counts for all
 * of them the interrupts that were sent and not yet cleared.
 * <ul>
 * <li>A guard interrupts only between {@code INTERRUPTING} and {@code INTERRUPTED}, and
 * the call does not return in one of these states. So no interrupt arrives after the
 * return.</li>
 * <li>The count is raised before an interrupt is sent, and lowered after the flag is
 * cleared. If it is then above zero, the thread may have cleared the interrupt of an
 * enclosing guard, and interrupts itself again.</li>
 * <li>A flag that was set before the first of these interrupts stays set, unless the body
 * clears it.</li>
 * </ul>
 * An interrupt by other code between the guard's interrupt and the return cannot be told
 * apart. Both are cleared.
 */
final class InterruptGuard implements DirectTask {

	private static final int RUNNING = 0;

	private static final int INTERRUPTING = 1;

	private static final int INTERRUPTED = 2;

	private static final int CLEARED = 3;

	private static final int RETURNED = 4;

	private static final int HANDED_OVER = 5;

	private static final int EXPIRED = 6;

	private static final AtomicIntegerFieldUpdater<InterruptGuard> STATE = AtomicIntegerFieldUpdater
		.newUpdater(InterruptGuard.class, "state");

	private static final AtomicIntegerFieldUpdater<InterruptGuard> SENT = AtomicIntegerFieldUpdater
		.newUpdater(InterruptGuard.class, "sent");

	/** The guard of the innermost call of the thread. */
	private static final ThreadLocal<@Nullable InterruptGuard> CURRENT = new ThreadLocal<>();

	final LimitedCall call;

	final Thread thread = Thread.currentThread();

	private final @Nullable InterruptGuard enclosing;

	private final InterruptGuard outermost;

	/** When the call began, by the wheel's clock. */
	private final long startNanos;

	private volatile int state;

	/** Used in the outermost guard: the interrupts that were sent and not cleared. */
	private volatile int sent;

	/** Used in the outermost guard: whether the flag was set before these interrupts. */
	private volatile boolean interruptedBefore;

	private @Nullable TimerHandle timer;

	/** What the deadline runs once the guard is handed over. */
	private @Nullable Runnable action;

	/** The stack of the call at the deadline. Written before {@code INTERRUPTED}. */
	private StackTraceElement @Nullable [] stack;

	/** What {@link #timeout} returned last. */
	private @Nullable MethodTimeoutException thrown;

	private InterruptGuard(LimitedCall call) {
		this.call = call;
		this.enclosing = CURRENT.get();
		this.outermost = (this.enclosing != null) ? this.enclosing.outermost : this;
		this.startNanos = call.runtime().wheel().nanoTime();
	}

	/** Gives {@code null} if the wheel has stopped. */
	static @Nullable InterruptGuard enter(LimitedCall call) {
		InterruptGuard guard = new InterruptGuard(call);
		guard.timer = call.runtime().schedule(guard, guard.startNanos, call.nanos());
		if (guard.timer == null) {
			return null;
		}
		CURRENT.set(guard);
		return guard;
	}

	/**
	 * The innermost advice of a method with a time limit. Throws the timeout as soon as
	 * an expired body returns, so that the advice between this one and the outer advice
	 * sees an exception: a transaction rolls back. Also clears the interrupt, which would
	 * disturb the rollback.
	 */
	static @Nullable Object runBody(MethodInvocation invocation) throws Throwable {
		InterruptGuard guard = CURRENT.get();
		if (guard == null || !guard.call.isFor(invocation)) {
			return invocation.proceed();
		}
		if (guard.clearIfExpired()) {
			throw guard.timeout(null);
		}
		return guard.run(invocation, false);
	}

	/**
	 * Proceeds with the call. If it ends after the deadline, cancels the future that it
	 * returned and throws the timeout, without the interrupt.
	 * @param last whether the guard ends with this part of the call, unless it is handed
	 * over to a later result
	 */
	@Nullable Object run(MethodInvocation invocation, boolean last) throws Throwable {
		Object result = null;
		Throwable failure = null;
		try {
			result = invocation.proceed();
			if (last && result != null) {
				result = this.call.limit().later().apply(result, this);
			}
		}
		catch (Throwable ex) {
			failure = ex;
		}
		if (last ? !finish() : clearIfExpired()) {
			FutureTimeout.cancel(result);
			throw timeout(failure);
		}
		if (failure != null) {
			throw failure;
		}
		return result;
	}

	void leave() {
		finish();
		if (this.enclosing != null) {
			CURRENT.set(this.enclosing);
		}
		else {
			CURRENT.remove();
		}
	}

	@Override
	public void run() {
		if (STATE.compareAndSet(this, RUNNING, EXPIRED)) {
			this.call.runtime().interrupt(this);
		}
		else if (STATE.compareAndSet(this, HANDED_OVER, RETURNED) && this.action != null) {
			this.action.run();
		}
	}

	/**
	 * Interrupts the thread of the call, unless the call has returned since the deadline.
	 */
	void interrupt(StackTraceElement @Nullable [] stack) {
		if (STATE.compareAndSet(this, EXPIRED, INTERRUPTING)) {
			InterruptGuard shared = this.outermost;
			if (SENT.getAndIncrement(shared) == 0) {
				shared.interruptedBefore = this.thread.isInterrupted();
			}
			this.thread.interrupt();
			this.stack = stack;
			this.state = INTERRUPTED;
		}
	}

	/** Whether the call has returned after its deadline. */
	boolean hasExpired() {
		return this.state == CLEARED;
	}

	/** Whether the deadline has passed, though the timer may be late. */
	boolean isPastDeadline() {
		return this.call.runtime().wheel().nanoTime() - this.startNanos >= this.call.nanos();
	}

	/**
	 * Clears the interrupt if the deadline has passed. If it has not, the interrupt may
	 * still come.
	 */
	private boolean clearIfExpired() {
		if (this.state == RUNNING && isPastDeadline() && STATE.compareAndSet(this, RUNNING, CLEARED)) {
			cancelTimer();
			return true;
		}
		if (STATE.compareAndSet(this, EXPIRED, CLEARED)) {
			return true;
		}
		int state = this.state;
		if (state == INTERRUPTING || state == INTERRUPTED) {
			clear();
			return true;
		}
		return state == CLEARED;
	}

	/** Ends the guard in time, or clears the interrupt. */
	private boolean finish() {
		if (clearIfExpired()) {
			return false;
		}
		if (STATE.compareAndSet(this, RUNNING, RETURNED)) {
			cancelTimer();
			return true;
		}
		return !clearIfExpired();
	}

	/**
	 * Makes the deadline run an action instead of interrupting, unless the deadline has
	 * passed.
	 */
	boolean handOver(Runnable action) {
		this.action = action;
		return !clearIfExpired() && STATE.compareAndSet(this, RUNNING, HANDED_OVER);
	}

	/** Any thread may call this. */
	boolean cancelAction() {
		if (STATE.compareAndSet(this, HANDED_OVER, RETURNED)) {
			cancelTimer();
			return true;
		}
		return false;
	}

	/**
	 * The exception for the caller, with the stack at the deadline and the failure
	 * suppressed. If the failure is the timeout of an inner call, this is the failure,
	 * with the new timeout suppressed.
	 */
	private MethodTimeoutException timeout(@Nullable Throwable failure) {
		if (this.thrown != null && this.thrown == failure) {
			return this.thrown;
		}
		MethodTimeoutException own = this.call.newException();
		if (this.stack != null) {
			own.addSuppressed(new DeadlineStacks.StackAtDeadline(this.thread, this.stack));
		}
		if (failure instanceof MethodTimeoutException inner) {
			inner.addSuppressed(own);
			own = inner;
		}
		else if (failure != null) {
			own.addSuppressed(failure);
		}
		this.thrown = own;
		return own;
	}

	private void clear() {
		while (this.state != INTERRUPTED) {
			Thread.yield();
		}
		InterruptGuard shared = this.outermost;
		// If the body has cleared the earlier interrupt, only the guard's own is left to
		// clear.
		if (!shared.interruptedBefore || !this.thread.isInterrupted()) {
			shared.interruptedBefore = false;
			Thread.interrupted();
		}
		if (SENT.getAndDecrement(shared) > 1) {
			this.thread.interrupt();
		}
		this.state = CLEARED;
	}

	private void cancelTimer() {
		if (this.timer != null) {
			this.timer.cancel();
		}
	}

}
