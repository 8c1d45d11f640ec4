package io.timingwheel.spring.task.internal;

import org.jspecify.annotations.Nullable;

/**
 * A call within a transaction that takes effect once the transaction has committed. Used
 * by the thread of the transaction.
 */
public abstract class DeferredCall {

	private final long sequence = Transactions.nextSequence();

	private final @Nullable Object key;

	private final Effect effect;

	/** The call before this one, in the same transaction and with the same key. */
	private @Nullable DeferredCall previous;

	private boolean overridden;

	/**
	 * Creates a call.
	 * @param key identifies the name and the key of the task; {@code null} if the order
	 * among other calls does not matter
	 */
	protected DeferredCall(@Nullable Object key, Effect effect) {
		this.key = key;
		this.effect = effect;
	}

	protected abstract void commit();

	/**
	 * Gives up. The transaction was rolled back, or rolled back to a savepoint from
	 * before this call.
	 */
	protected void rollback() {
	}

	/**
	 * Gives up, since a later call of the same transaction takes away or replaces what
	 * this call would make pending.
	 */
	protected void override(Effect later) {
	}

	public final Effect effect() {
		return this.effect;
	}

	/**
	 * The number of the call. A call acts only on tasks with smaller numbers.
	 */
	public final long sequence() {
		return this.sequence;
	}

	protected @Nullable Object keyInTransaction() {
		return this.key;
	}

	final @Nullable DeferredCall previous() {
		return this.previous;
	}

	final void setPrevious(@Nullable DeferredCall previous) {
		this.previous = previous;
	}

	final boolean isOverridden() {
		return this.overridden;
	}

	final void overrideBy(Effect later) {
		if (!this.overridden && this.effect.leavesPending()) {
			this.overridden = true;
			override(later);
		}
	}

	public enum Effect {

		/** None that matters to other calls. */
		NONE,

		/** Makes a task pending, unless one is pending. */
		START,

		/** Makes a task pending in place of the one that is pending. */
		REPLACE,

		/** Cancels the pending task. */
		CANCEL;

		public boolean leavesPending() {
			return this == START || this == REPLACE;
		}

		boolean overrides() {
			return this == REPLACE || this == CANCEL;
		}

	}

}
