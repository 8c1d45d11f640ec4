package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The nodes of a measurement, which begins with an empty store.
 */
final class Nodes implements AutoCloseable {

	private static final long PATIENCE = TimeUnit.MINUTES.toNanos(3);

	private final List<NodeProcess> nodes = new ArrayList<>();

	/**
	 * Starts nodes.
	 * @param warmUp how many tasks the nodes run to warm up
	 */
	Nodes(int count, Store store, Server server, DurablePeer peer, List<String> jvmArgs, int warmUp) throws Exception {
		server.clear();
		try {
			for (int i = 0; i < count; i++) {
				NodeProcess node = new NodeProcess(store, server.url(), peer, jvmArgs);
				this.nodes.add(node);
				// The first one creates the table.
				node.awaitStart();
			}
			first().run("fill %d 0".formatted(warmUp));
			await(warmUp);
			// The compiler has not finished yet.
			TimeUnit.SECONDS.sleep(2);
			all("reset");
		}
		catch (Exception ex) {
			close();
			throw ex;
		}
	}

	NodeProcess first() {
		return this.nodes.get(0);
	}

	List<Map<String, Double>> all(String command) throws IOException {
		List<Map<String, Double>> answers = new ArrayList<>();
		for (NodeProcess node : this.nodes) {
			answers.add(node.run(command));
		}
		return answers;
	}

	/**
	 * Waits until the nodes together have run some tasks.
	 */
	void await(long count) throws IOException, InterruptedException {
		long start = System.nanoTime();
		while (sum(all("count"), "count") < count) {
			if (System.nanoTime() - start > PATIENCE) {
				throw new IllegalStateException(
						"Only %.0f of %d tasks have run".formatted(sum(all("count"), "count"), count));
			}
			TimeUnit.MILLISECONDS.sleep(50);
		}
	}

	static double sum(List<Map<String, Double>> answers, String figure) {
		return answers.stream().mapToDouble((answer) -> answer.getOrDefault(figure, 0.0)).sum();
	}

	@Override
	public void close() {
		this.nodes.forEach(NodeProcess::close);
	}

}
