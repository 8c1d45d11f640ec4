package io.timingwheel.benchmarks.spring;

import io.timingwheel.benchmarks.Contestant;

/** The ways to limit how long a call takes. */
public enum LimitWay implements Contestant {

	TIMEOUT("@Timeout") {

		@Override
		int call(LimitedCallState state) {
			return state.calls.limited();
		}

	},

	BARE_PROXY("no limit, bare proxy") {

		@Override
		int call(LimitedCallState state) {
			return state.bareProxy.unlimited();
		}

	},

	TIME_LIMITER("Resilience4j TimeLimiter, completed stage") {

		@Override
		int call(LimitedCallState state) throws Exception {
			return state.callWithTimeLimiter();
		}

	},

	OTHER_THREAD("another thread, Future.get with a limit") {

		@Override
		int call(LimitedCallState state) throws Exception {
			return state.callOnOtherThread();
		}

	};

	private final String label;

	LimitWay(String label) {
		this.label = label;
	}

	abstract int call(LimitedCallState state) throws Exception;

	@Override
	public String label() {
		return this.label;
	}

	@Override
	public boolean isOurs() {
		return this == TIMEOUT;
	}

}
