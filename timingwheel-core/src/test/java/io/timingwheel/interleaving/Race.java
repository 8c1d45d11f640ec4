package io.timingwheel.interleaving;

import java.util.List;

/**
 * A few threads on something small. Made anew for each interleaving, by its constructor
 * without parameters.
 */
public interface Race {

	/**
	 * What the threads do, one each. The first begins.
	 */
	List<Runnable> threads();

	/**
	 * Checks what must hold once all threads have ended, in whatever order they took
	 * their steps.
	 */
	void verify();

}
