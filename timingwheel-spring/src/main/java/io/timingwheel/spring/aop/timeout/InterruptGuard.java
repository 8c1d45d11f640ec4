package io.timingwheel.spring.aop.timeout;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.reflect.Method;

import io.timingwheel.DirectTask;
import io.timingwheel.TimerHandle;
import io.timingwheel.spring.annotation.MethodTimeoutException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread of one call at its deadline, and sees to it that no interrupt
 * outlives the call.
 *
 * <p>
 * The wheel's thread claims a {@code RUNNING} guard as {@code INTERRUPTING}, interrupts
 * and says {@code INTERRUPTED}. The calling thread claims it as {@code RETURNED}. One of
 * them wins: either the interrupt is never sent, or the caller, having lost, waits for
 * {@code INTERRUPTED} and then clears the flag, so that nothing arrives later.
 *
 * <p>
 * The guards of nested calls are linked and share, in the outermost, the number of
 * interrupts sent and not yet cleared. When it becomes one, the wheel's thread looks
 * whether the flag was set before ("foreign"); such a flag is left as it was. When it is
 * not zero after clearing, an enclosing guard has expired as well, whose interrupt may
 * just have been cleared, and the thread interrupts itself.
 *
 * <p>
 * An interrupt from elsewhere that comes between ours and the return cannot be told from
 * ours, and is cleared with it.
 *
 * <p>
 * When the call returned a future in time, the guard can be handed over: the deadline
 * then concerns the future, and no thread is interrupted any more.
 */
final class InterruptGuard implements DirectTask {

	private static final int RUNNING = 0;

	private static final int INTERRUPTING = 1;

	private static final int INTERRUPTED = 2;

	private static final int CLEARED = 3;

	private static final int RETURNED = 4;

	private static final int HANDED_OVER = 5;

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

	/** The innermost guard of the thread. */
	private static final ThreadLocal<@Nullable InterruptGuard> CURRENT = new ThreadLocal<>();

	private final TimeLimit limit;

	private final long nanos;

	private final Method method;

	private final @Nullable Object target;

	private final Thread thread = Thread.currentThread();

	private final @Nullable InterruptGuard enclosing;

	private final InterruptGuard outermost;

	private volatile int state;

	/** Of the outermost guard: interrupts sent and not cleared. */
	private volatile int sent;

	/** Of the outermost guard: whether the flag was set before we sent any. */
	private volatile boolean foreign;

	private @Nullable TimerHandle timer;

	private @Nullable Runnable onDeadline;

	/** What {@link #timeOut} gave last. */
	private @Nullable Throwable thrown;

	private InterruptGuard(TimeLimit limit, long nanos, MethodInvocation invocation) {
		this.limit = limit;
		this.nanos = nanos;
		this.method = invocation.getMethod();
		this.target = invocation.getThis();
		this.enclosing = CURRENT.get();
		this.outermost = (this.enclosing != null) ? this.enclosing.outermost : this;
	}

	/**
	 * Starts to guard a call of the current thread.
	 * @return the guard, to be {@linkplain #leave left} by the same thread; {@code null}
	 * if the wheel is stopped, and nothing can be guarded any more
	 */
	static @Nullable InterruptGuard enter(TimeLimit limit, long nanos, MethodInvocation invocation,
			Deadlines deadlines) {
		InterruptGuard guard = new InterruptGuard(limit, nanos, invocation);
		guard.timer = deadlines.schedule(guard, nanos);
		if (guard.timer == null) {
			return null;
		}
		CURRENT.set(guard);
		return guard;
	}

	/**
	 * The guard of a call that the current thread is in, if it has one.
	 */
	static @Nullable InterruptGuard of(MethodInvocation invocation) {
		InterruptGuard guard = CURRENT.get();
		return (guard != null && guard.method == invocation.getMethod() && guard.target == invocation.getThis()) ? guard
				: null;
	}

	/**
	 * Ends the guard, unless it is handed over, and makes the enclosing one the thread's
	 * innermost again.
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
	 * The deadline, on the wheel's thread.
	 */
	@Override
	public void run() {
		if (STATE.compareAndSet(this, RUNNING, INTERRUPTING)) {
			InterruptGuard shared = this.outermost;
			if ((int) SENT.getAndAdd(shared, 1) == 0) {
				shared.foreign = this.thread.isInterrupted();
			}
			this.thread.interrupt();
			this.state = INTERRUPTED;
		}
		else if (STATE.compareAndSet(this, HANDED_OVER, RETURNED) && this.onDeadline != null) {
			this.onDeadline.run();
		}
	}

	/**
	 * Whether the deadline has passed; if so, the interrupt is cleared. Otherwise it may
	 * still come. Only for the guarded thread.
	 */
	boolean isExpired() {
		int state = this.state;
		if (state == INTERRUPTING || state == INTERRUPTED) {
			clear();
			return true;
		}
		return state == CLEARED;
	}

	/**
	 * Ends the guard, unless the deadline came first; then the interrupt is cleared. Only
	 * for the guarded thread.
	 * @return whether the call returned in time
	 */
	boolean finish() {
		if (STATE.compareAndSet(this, RUNNING, RETURNED)) {
			cancelTimer();
			return true;
		}
		return !isExpired();
	}

	/**
	 * From now on the deadline interrupts no thread, but runs an action.
	 * @param onDeadline runs on the wheel's thread
	 * @return whether the call returned in time; otherwise the guard stays as it is
	 */
	boolean handOver(Runnable onDeadline) {
		this.onDeadline = onDeadline;
		return STATE.compareAndSet(this, RUNNING, HANDED_OVER);
	}

	/**
	 * Calls off the action that the guard was handed over to. For any thread.
	 * @return whether the deadline had not passed
	 */
	boolean callOff() {
		if (STATE.compareAndSet(this, HANDED_OVER, RETURNED)) {
			cancelTimer();
			return true;
		}
		return false;
	}

	/**
	 * What the caller of an expired call gets. If the body failed since an inner guard
	 * expired, that exception passes and ours is suppressed.
	 * @param failure what came out of the body, or of the advice around it
	 */
	Throwable timeOut(@Nullable Throwable failure) {
		Throwable thrown = this.thrown;
		if (thrown == null || thrown != failure) {
			MethodTimeoutException own = exception();
			thrown = suppress(own, failure);
			this.thrown = thrown;
		}
		return thrown;
	}

	private static Throwable suppress(MethodTimeoutException own, @Nullable Throwable failure) {
		if (failure instanceof MethodTimeoutException inner) {
			inner.addSuppressed(own);
			return inner;
		}
		if (failure != null) {
			own.addSuppressed(failure);
		}
		return own;
	}

	MethodTimeoutException exception() {
		return this.limit.exception(this.nanos);
	}

	TimeLimit limit() {
		return this.limit;
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
		// A foreign interrupt that the body has consumed leaves only ours to clear.
		if (!shared.foreign || !this.thread.isInterrupted()) {
			shared.foreign = false;
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
