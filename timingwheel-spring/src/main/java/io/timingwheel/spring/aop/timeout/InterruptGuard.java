package io.timingwheel.spring.aop.timeout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Guards one call with a time limit: interrupts the thread of the call at the deadline,
 * and makes sure that no interrupt outlives the call. A call that returns after the
 * deadline has expired even if the wheel's thread was late and has not noticed.
 *
 * <p>
 * <b>Protocol.</b> The state changes from {@code RUNNING} by compare-and-set, so exactly
 * one side wins:
 * <ul>
 * <li>The wheel's thread, at the deadline: {@code RUNNING} to {@code EXPIRED}.</li>
 * <li>The interrupting thread, after the deadline: {@code EXPIRED} to
 * {@code INTERRUPTING}, then {@link Thread#interrupt()}, then {@code INTERRUPTED}. This
 * is the thread of {@link DeadlineStacks}, which first reads the stack of the call, or
 * the wheel's thread.</li>
 * <li>The thread of the call, when the call returns: {@code RUNNING} to {@code RETURNED},
 * or to {@code CLEARED} if the deadline has passed. The timer then has no effect. If this
 * thread loses, it changes {@code EXPIRED} to {@code CLEARED}, and nobody interrupts. If
 * this thread loses again, it waits for {@code INTERRUPTED}, clears its interrupt flag
 * and sets {@code CLEARED}.</li>
 * <li>The thread of the call, when the call returns a future in time: {@code RUNNING} to
 * {@code HANDED_OVER}. The deadline then runs an action instead of interrupting. The
 * deadline and {@link #cancelAction()} both change {@code HANDED_OVER} to
 * {@code RETURNED}, again by compare-and-set, so at most one of them has an effect.</li>
 * </ul>
 *
 * <p>
 * The guards of nested calls on one thread are linked. The outermost guard counts for all
 * of them the interrupts that were sent and not yet cleared.
 *
 * <p>
 * <b>Invariants.</b>
 * <ul>
 * <li>A guard interrupts only between {@code INTERRUPTING} and {@code INTERRUPTED}, and
 * the call does not return while its guard is in one of these states. So no interrupt
 * arrives after the return.</li>
 * <li>The count is raised before an interrupt is sent, and lowered after the flag is
 * cleared. If the count is then still above zero, an enclosing guard has expired too, and
 * the thread may just have cleared the interrupt of that guard. The thread therefore
 * interrupts itself again.</li>
 * <li>A flag that was set before the first of these interrupts stays set, unless the body
 * clears it. The interrupting thread looks at the flag when it raises the count from
 * zero.</li>
 * </ul>
 *
 * <p>
 * If other code interrupts the thread after the guard's interrupt and before the return,
 * the two interrupts cannot be distinguished. Both are cleared.
 */
final class InterruptGuard implements DirectTask {

	private static final int RUNNING = 0;

	private static final int INTERRUPTING = 1;

	private static final int INTERRUPTED = 2;

	private static final int CLEARED = 3;

	private static final int RETURNED = 4;

	private static final int HANDED_OVER = 5;

	private static final int EXPIRED = 6;

	private static final int SPINS = 100;

	private static final VarHandle STATE;

	private static final VarHandle SENT;

	static {
		try {
			MethodHandles.Lookup lookup = MethodHandles.lookup();
			STATE = lookup.findVarHandle(InterruptGuard.class, "state", int.class);
			SENT = lookup.findVarHandle(InterruptGuard.class, "sent", int.class);
		}
		catch (ReflectiveOperationException ex) {
			throw new ExceptionInInitializerError(ex);
		}
	}

	/** The guard of the innermost call of the thread. */
	private static final ThreadLocal<@Nullable InterruptGuard> CURRENT = new ThreadLocal<>();

	private final LimitedCall call;

	private final Thread thread = Thread.currentThread();

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
		this.startNanos = call.runtime().nanoTime();
	}

	/**
	 * Starts to guard a call of the current thread, which has to {@linkplain #leave
	 * leave} the guard.
	 * @return the guard; {@code null} if the wheel has stopped, so that the call has no
	 * time limit
	 */
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
	 * Returns the guard of the current thread if it guards this call.
	 * @return the guard, {@code null} if the call has none
	 */
	static @Nullable InterruptGuard current(MethodInvocation invocation) {
		InterruptGuard guard = CURRENT.get();
		return (guard != null && guard.call.isFor(invocation)) ? guard : null;
	}

	/**
	 * Ends the guard unless it is handed over. The enclosing guard becomes the innermost
	 * guard of the thread again. Only the thread of the call calls this.
	 */
	void leave() {
		finish();
		if (this.enclosing != null) {
			CURRENT.set(this.enclosing);
		}
		else {
			CURRENT.remove();
		}
	}

	/**
	 * Acts at the deadline. Only the wheel's thread calls this.
	 */
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
	 * @param stack the stack of that thread, {@code null} if it is unknown
	 */
	void interrupt(StackTraceElement @Nullable [] stack) {
		if (STATE.compareAndSet(this, EXPIRED, INTERRUPTING)) {
			InterruptGuard shared = this.outermost;
			if ((int) SENT.getAndAdd(shared, 1) == 0) {
				shared.interruptedBefore = this.thread.isInterrupted();
			}
			this.thread.interrupt();
			this.stack = stack;
			this.state = INTERRUPTED;
		}
	}

	/**
	 * Returns the thread of the call.
	 */
	Thread thread() {
		return this.thread;
	}

	/**
	 * Whether the deadline has passed by the wheel's clock. The timer may be late.
	 */
	boolean isPastDeadline() {
		return this.call.runtime().nanoTime() - this.startNanos >= this.call.nanos();
	}

	/**
	 * Clears the interrupt if the deadline has passed. If it has not, the interrupt may
	 * still come. Only the thread of the call calls this.
	 */
	boolean clearIfExpired() {
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

	/**
	 * Ends the guard if the deadline has not passed, and otherwise clears the interrupt.
	 * Only the thread of the call calls this.
	 */
	boolean finish() {
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
	 * passed. Only the thread of the call calls this.
	 */
	boolean handOver(Runnable action) {
		this.action = action;
		return !clearIfExpired() && STATE.compareAndSet(this, RUNNING, HANDED_OVER);
	}

	/**
	 * Cancels the action of a guard that is handed over. Any thread may call this.
	 */
	boolean cancelAction() {
		if (STATE.compareAndSet(this, HANDED_OVER, RETURNED)) {
			cancelTimer();
			return true;
		}
		return false;
	}

	/**
	 * Returns the exception for the caller of an expired call. This is a new timeout,
	 * with the stack at the deadline and the failure as suppressed exceptions. If the
	 * failure is the timeout of an inner call, this is the failure, with the new timeout
	 * as a suppressed exception. If this method has returned the failure before, it
	 * returns the failure again.
	 */
	MethodTimeoutException timeout(@Nullable Throwable failure) {
		MethodTimeoutException thrown = this.thrown;
		if (thrown == null || thrown != failure) {
			MethodTimeoutException own = this.call.newException();
			if (this.stack != null) {
				own.addSuppressed(new StackAtDeadline(this.thread, this.stack));
			}
			thrown = suppress(own, failure);
			this.thrown = thrown;
		}
		return thrown;
	}

	private static MethodTimeoutException suppress(MethodTimeoutException own, @Nullable Throwable failure) {
		if (failure instanceof MethodTimeoutException inner) {
			inner.addSuppressed(own);
			return inner;
		}
		if (failure != null) {
			own.addSuppressed(failure);
		}
		return own;
	}

	LimitedCall call() {
		return this.call;
	}

	private void clear() {
		for (int i = 0; this.state != INTERRUPTED; i++) {
			if (i < SPINS) {
				Thread.onSpinWait();
			}
			else {
				Thread.yield();
			}
		}
		InterruptGuard shared = this.outermost;
		// If the body has cleared the earlier interrupt, only the guard's own is left to
		// clear.
		if (!shared.interruptedBefore || !this.thread.isInterrupted()) {
			shared.interruptedBefore = false;
			Thread.interrupted();
		}
		if ((int) SENT.getAndAdd(shared, -1) > 1) {
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
