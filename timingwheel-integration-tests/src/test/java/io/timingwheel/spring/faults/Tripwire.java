package io.timingwheel.spring.faults;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * A class that no payload may instantiate or call.
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
