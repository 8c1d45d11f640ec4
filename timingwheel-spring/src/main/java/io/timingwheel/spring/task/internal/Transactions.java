package io.timingwheel.spring.task.internal;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

import io.timingwheel.spring.task.internal.Transactions.DeferredCall.Effect;
import org.aopalliance.aop.Advice;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.interceptor.TransactionInterceptor;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;

/**
 * The transaction of the current thread, and the calls that wait for its commit. Without
 * {@code spring-tx} on the class path there is no transaction.
 *
 * <p>
 * Each call gets a sequence number when it is made. The numbers decide what is pending
 * after the commit, for tasks in memory and for the calls that a store without
 * transactions gets after the commit:
 *
 * <pre>
 * earlier call   later call, same key     result
 * schedule       cancel                   nothing is pending; the first task counts as cancelled
 * schedule       schedule: REPLACE        the later task; the first one counts as replaced
 * schedule       schedule: UPDATE         the later task, with the due time of the first one
 * schedule       schedule: KEEP           the first task, whose result the later call gets
 * schedule       schedule: REJECT         the first task; the later call is refused
 * cancel         cancel                   the later call finds nothing
 * cancel         schedule: any            the later task; for KEEP, REJECT and UPDATE, a task
 *                                         that the earlier call cancels counts as absent
 * </pre>
 *
 * A call acts only on tasks with smaller numbers. A cancel therefore leaves a task alone
 * that another thread has scheduled between the call and the commit. A schedule that
 * finds such a task in memory gives up, as if the other task had replaced its own. A task
 * that a later call of its transaction cancels or replaces reaches neither the wheel nor
 * the store, since it could begin in between. Among the calls that act at once, a
 * {@link #cancel} overrides the waiting calls with its key, and a schedule waits behind
 * them.
 *
 * <p>
 * A nested transaction with a savepoint is a part of its outer transaction. Any other
 * nested transaction, as with {@code REQUIRES_NEW}, has calls of its own.
 */
public final class Transactions {

	private static final Log logger = LogFactory.getLog(Transactions.class);

	private static final boolean PRESENT = ClassUtils.isPresent(
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			Transactions.class.getClassLoader());

	private static final AtomicLong sequences = new AtomicLong();

	private Transactions() {
	}

	public static boolean isActive() {
		return PRESENT && Calls.isTransactionActive();
	}

	public static boolean areOpenedBy(Advice advice) {
		return PRESENT && advice instanceof TransactionInterceptor;
	}

	public static void defer(DeferredCall call) {
		Calls.ofTransaction().add(call);
	}

	/**
	 * Runs an action after the commit of the thread's transaction, or now without one.
	 */
	public static void afterCommit(Runnable action) {
		if (!isActive()) {
			action.run();
			return;
		}
		defer(new DeferredCall(null, Effect.NONE) {

			@Override
			public void commit() {
				action.run();
			}

		});
	}

	/** Runs an action if the thread has a transaction and this is rolled back. */
	public static void onRollback(Runnable action) {
		if (isActive()) {
			defer(new DeferredCall(null, Effect.NONE) {

				@Override
				protected void rollback() {
					action.run();
				}

			});
		}
	}

	public static boolean hasDeferred() {
		return PRESENT && Calls.find() != null;
	}

	/** What the latest call with a key does at the commit. */
	public static Effect earlier(@Nullable Object key) {
		List<DeferredCall> waiting = waiting(key);
		return waiting.isEmpty() ? Effect.NONE : waiting.get(0).effect;
	}

	private static List<DeferredCall> waiting(@Nullable Object key) {
		Calls calls = PRESENT ? Calls.find() : null;
		return (calls != null && key != null) ? calls.withKey(key).stream().filter((call) -> !call.overridden).toList()
				: List.of();
	}

	/**
	 * Overrides the waiting calls with a key, on behalf of a cancel that acts at once;
	 * {@code false} if they would have left no task.
	 */
	public static boolean cancel(Object key) {
		Effect earlier = earlier(key);
		waiting(key).forEach((call) -> call.overrideBy(Effect.CANCEL));
		return earlier.leavesPending();
	}

	/**
	 * The calls of one transaction. This class is loaded only if {@code spring-tx} is on
	 * the class path.
	 *
	 * <p>
	 * The calls take effect in {@code afterCompletion()}. Spring skips
	 * {@code afterCommit()} if that of another synchronization throws, and if the
	 * synchronization was registered during {@code afterCommit()}.
	 */
	private static final class Calls extends ResourceHolderSupport implements TransactionSynchronization {

		private final List<DeferredCall> calls = new ArrayList<>();

		/** The calls by their keys, the latest first. */
		private final Map<Object, Deque<DeferredCall>> byKey = new HashMap<>();

		/** How many calls there were when a savepoint was set. */
		private final Map<Object, Integer> savepoints = new HashMap<>();

		static boolean isTransactionActive() {
			return TransactionSynchronizationManager.isSynchronizationActive()
					&& TransactionSynchronizationManager.isActualTransactionActive();
		}

		static @Nullable Calls find() {
			return TransactionSynchronizationManager.isSynchronizationActive()
					? (Calls) TransactionSynchronizationManager.getResource(Calls.class) : null;
		}

		static Calls ofTransaction() {
			Calls calls = find();
			if (calls == null) {
				calls = new Calls();
				TransactionSynchronizationManager.bindResource(Calls.class, calls);
				TransactionSynchronizationManager.registerSynchronization(calls);
			}
			return calls;
		}

		@Override
		public void suspend() {
			TransactionSynchronizationManager.unbindResource(Calls.class);
		}

		@Override
		public void resume() {
			TransactionSynchronizationManager.bindResource(Calls.class, this);
		}

		void add(DeferredCall call) {
			this.calls.add(call);
			Object key = call.keyInTransaction();
			if (key != null) {
				this.byKey.computeIfAbsent(key, (absent) -> new ArrayDeque<>()).push(call);
			}
		}

		Collection<DeferredCall> withKey(Object key) {
			Collection<DeferredCall> calls = this.byKey.get(key);
			return (calls != null) ? calls : List.of();
		}

		@Override
		public void savepoint(Object savepoint) {
			this.savepoints.put(savepoint, this.calls.size());
		}

		@Override
		public void savepointRollback(Object savepoint) {
			rollback(this.savepoints.getOrDefault(savepoint, 0));
		}

		@Override
		public void afterCompletion(int status) {
			// JTA may call this on another thread. The thread of the transaction then
			// finds a void holder, which Spring removes.
			TransactionSynchronizationManager.unbindResourceIfPossible(Calls.class);
			unbound();
			if (status == STATUS_COMMITTED) {
				commit();
			}
			else {
				rollback(0);
			}
		}

		private void commit() {
			Map<Object, DeferredCall> later = new HashMap<>();
			for (int i = this.calls.size() - 1; i >= 0; i--) {
				DeferredCall call = this.calls.get(i);
				Object key = call.keyInTransaction();
				if (key != null && !call.overridden) {
					DeferredCall overriding = call.effect.overrides() ? later.put(key, call) : later.get(key);
					if (overriding != null) {
						run(() -> call.overrideBy(overriding.effect));
					}
				}
			}
			for (DeferredCall call : this.calls) {
				if (!call.overridden) {
					run(call::commit);
				}
			}
		}

		/**
		 * Gives up the calls from a position on, the latest one first. Then those that
		 * need no commit act in their order.
		 */
		private void rollback(int first) {
			Deque<DeferredCall> acting = new ArrayDeque<>();
			while (this.calls.size() > first) {
				DeferredCall call = this.calls.remove(this.calls.size() - 1);
				Object key = call.keyInTransaction();
				if (key != null) {
					withKey(key).remove(call);
				}
				if (!call.overridden && call.needsCommit()) {
					run(call::rollback);
				}
				else if (!call.overridden) {
					acting.push(call);
				}
			}
			acting.forEach((call) -> run(call::commit));
		}

		private static void run(Runnable action) {
			try {
				action.run();
			}
			catch (RuntimeException | Error ex) {
				logger.error("A call that has waited for the end of a transaction failed", ex);
			}
		}

	}

	/**
	 * A call that takes effect once its transaction has committed. Used by its thread.
	 */
	public abstract static class DeferredCall {

		private final long sequence = sequences.incrementAndGet();

		private final @Nullable Object key;

		private final Effect effect;

		private boolean overridden;

		/**
		 * @param key the name and the key of the task; {@code null} if the order does not
		 * matter
		 */
		protected DeferredCall(@Nullable Object key, Effect effect) {
			this.key = key;
			this.effect = effect;
		}

		public void commit() {
		}

		/** Whether a rollback ends the call; otherwise it acts then too. */
		protected boolean needsCommit() {
			return true;
		}

		/** Gives up after a rollback, also to a savepoint from before this call. */
		protected void rollback() {
		}

		/**
		 * Gives up, since a later call of the transaction replaces or cancels its task.
		 */
		protected void override(Effect later) {
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

			boolean overrides() {
				return this == REPLACE || this == CANCEL;
			}

		}

	}

}
