package io.timingwheel.interleaving;

import java.util.List;

/**
 * A few threads that act on the same objects. Each interleaving has a new race, by the
 * only constructor of the class.
 */
public interface Race {

	/** The actions of the threads, one for each. The first thread begins. */
	List<Runnable> threads();

	/**
	 * Checks the outcome after all threads have ended. It must hold for each order of
	 * steps.
	 */
	void verify();

}
