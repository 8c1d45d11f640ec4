package io.timingwheel.spring.durable.autoconfigure;

import java.util.List;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;

import org.springframework.core.NestedExceptionUtils;

/**
 * Stops the start of the application if the store cannot keep durable tasks safely.
 * Public for the stores of timingwheel.
 *
 * @since 0.1
 */
public final class TaskStoreCheck {

	private TaskStoreCheck() {
	}

	static void check(DelayedTaskStore store) {
		try {
			store.check(List.of());
		}
		catch (RuntimeException ex) {
			throw unusable(ex);
		}
	}

	/** A failure with a remedy. A store that gives none has probably not answered. */
	public static UnusableTaskStoreException unusable(RuntimeException failure) {
		return (failure instanceof UnusableTaskStoreException unusable) ? unusable : new UnusableTaskStoreException(
				"the check of the store has failed (%s)".formatted(NestedExceptionUtils.getMostSpecificCause(failure)),
				"check that the server of the store runs, and that its address, user and password are right", failure);
	}

}
