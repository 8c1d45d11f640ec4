package io.timingwheel.benchmarks.durable;

import java.util.Map;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.Step;

/**
 * A measurement on nodes in JVMs of their own.
 *
 * @param setup the setup of the run
 * @param nodes how many nodes
 * @param work what gives the figures
 */
record DurableStep(DurableSetup setup, int nodes, Work work) implements Step {

	@Override
	public boolean suits(Contestant contestant) {
		return contestant instanceof DurablePeer peer && peer.uses(this.setup.store())
				&& (peer.isOurs() || !this.setup.hasPending());
	}

	@Override
	public Map<String, Double> run(Contestant contestant, Effort effort) throws Exception {
		DurablePeer peer = (DurablePeer) contestant;
		try (Nodes nodes = new Nodes(this.nodes, this.setup, peer)) {
			return this.work.run(nodes, peer);
		}
	}

	/** The work of the step. */
	interface Work {

		Map<String, Double> run(Nodes nodes, DurablePeer peer) throws Exception;

	}

}
