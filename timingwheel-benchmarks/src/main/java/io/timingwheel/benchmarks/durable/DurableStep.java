package io.timingwheel.benchmarks.durable;

import java.util.Map;

import io.timingwheel.benchmarks.Contestant;
import io.timingwheel.benchmarks.report.Effort;
import io.timingwheel.benchmarks.report.Step;

/**
 * A measurement on nodes in JVMs of their own.
 *
 * @param store the kind of server
 * @param server the server
 * @param nodes how many nodes
 * @param warmUp how many tasks they run to warm up
 * @param work what gives the figures
 */
record DurableStep(Store store, Server server, int nodes, int warmUp, Work work) implements Step {

	@Override
	public boolean suits(Contestant contestant) {
		return contestant instanceof DurablePeer peer && peer.uses(this.store);
	}

	@Override
	public Map<String, Double> run(Contestant contestant, Effort effort) throws Exception {
		DurablePeer peer = (DurablePeer) contestant;
		try (Nodes nodes = new Nodes(this.nodes, this.store, this.server, peer, effort.jvmArgs(), this.warmUp)) {
			return this.work.run(nodes, peer);
		}
	}

	/**
	 * The work of the step.
	 */
	interface Work {

		Map<String, Double> run(Nodes nodes, DurablePeer peer) throws Exception;

	}

}
