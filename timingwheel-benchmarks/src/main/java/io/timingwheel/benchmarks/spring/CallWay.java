package io.timingwheel.benchmarks.spring;

import java.util.function.ObjLongConsumer;

import io.timingwheel.benchmarks.Contestant;

/** The ways to run a method later. */
public enum CallWay implements Contestant {

	DELAYED("@Delayed", Calls::delayed),

	DELAYED_BY_KEY("@Delayed, SpEL key", Calls::delayedByKey),

	ASYNC("@Async", Calls::async);

	private final String label;

	private final ObjLongConsumer<Calls> call;

	CallWay(String label, ObjLongConsumer<Calls> call) {
		this.label = label;
		this.call = call;
	}

	void call(Calls calls, long id) {
		this.call.accept(calls, id);
	}

	@Override
	public String label() {
		return this.label;
	}

	@Override
	public boolean isOurs() {
		return this != ASYNC;
	}

}
