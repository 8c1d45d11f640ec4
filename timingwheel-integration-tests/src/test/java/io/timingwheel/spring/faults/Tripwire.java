package io.timingwheel.spring.faults;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * What no payload may reach.
 */
public class Tripwire {

	private static final AtomicInteger trips = new AtomicInteger();

	public Tripwire() {
		trip();
	}

	public void setNumber(int number) {
		trip();
	}

	static void trip() {
		trips.incrementAndGet();
	}

	static int trips() {
		return trips.get();
	}

}
