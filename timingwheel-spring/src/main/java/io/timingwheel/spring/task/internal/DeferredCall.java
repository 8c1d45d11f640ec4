package io.timingwheel.spring.task.internal;

import org.jspecify.annotations.Nullable;

/**
 * A call that takes effect once its transaction has committed. Used by its thread.
 */
public abstract class DeferredCall {

	private final long sequence = Transactions.nextSequence();

	private final @Nullable Object key;

	private final Effect effect;

	boolean overridden;

	/**
	 * @param key the name and the key of the task; {@code null} if the order does not
	 * matter
	 */
	protected DeferredCall(@Nullable Object key, Effect effect) {
		this.key = key;
		this.effect = effect;
	}

	public abstract void commit();

	/** Gives up after a rollback, also to a savepoint from before this call. */
	protected void rollback() {
	}

	/** Gives up, since a later call of the transaction replaces or cancels its task. */
	protected void override(Effect later) {
	}

	public final Effect effect() {
		return this.effect;
	}

	/** A call acts only on tasks with smaller numbers. */
	public final long sequence() {
		return this.sequence;
	}

	protected @Nullable Object keyInTransaction() {
		return this.key;
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

		public boolean overrides() {
			return this == REPLACE || this == CANCEL;
		}

	}

}
