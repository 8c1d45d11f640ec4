package io.timingwheel.spring.task.support;

import java.util.concurrent.Callable;

import org.jspecify.annotations.Nullable;

/**
 * Runs code that the template was given.
 */
enum CodeBody implements TaskBody<Object> {

	RUNNABLE {

		@Override
		public @Nullable Object run(Object payload) {
			((Runnable) payload).run();
			return null;
		}

	},

	CALLABLE {

		@Override
		public @Nullable Object run(Object payload) throws Exception {
			return ((Callable<?>) payload).call();
		}

	}

}
