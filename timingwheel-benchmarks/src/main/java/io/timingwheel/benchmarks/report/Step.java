package io.timingwheel.benchmarks.report;

import java.util.Map;

import io.timingwheel.benchmarks.Contestant;

/** A run in a JVM of its own. It gives the figures of some columns. */
public interface Step {

	/** Whether a contestant takes part. */
	boolean suits(Contestant contestant);

	/**
	 * Runs it.
	 * @return the figures by the columns' keys
	 * @throws Exception if the run fails
	 */
	Map<String, Double> run(Contestant contestant, Effort effort) throws Exception;

}
