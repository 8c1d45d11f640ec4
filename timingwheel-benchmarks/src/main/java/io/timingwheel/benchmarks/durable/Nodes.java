package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** The nodes of a measurement, which begins with an empty store. */
final class Nodes implements AutoCloseable {

	private static final long PATIENCE = TimeUnit.MINUTES.toNanos(3);

	private final DurableSetup setup;

	private final DurablePeer peer;

	private final List<NodeProcess> nodes = new ArrayList<>();

	/** Starts nodes, which warm up. */
	Nodes(int count, DurableSetup setup, DurablePeer peer) throws Exception {
		this.setup = setup;
		this.peer = peer;
		server().clear();
		try {
			for (int i = 0; i < count; i++) {
				NodeProcess node = new NodeProcess(setup, peer);
				this.nodes.add(node);
				// The first one creates the table.
				node.awaitStart();
				if (i == 0 && setup.hasPending()) {
					addPending();
				}
			}
			int warmUp = count * setup.warmUp();
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

	private void addPending() throws IOException {
		first().run("pause");
		long start = System.nanoTime();
		server().addPending(this.setup.pending(), first());
		System.err.printf("%n        %,d pending tasks after %.0f s, %s", this.setup.pending(),
				(System.nanoTime() - start) / 1e9, sizes());
		first().run("resume");
	}

	/** What the tasks take, as text. */
	String sizes() {
		return server().megabytes()
			.entrySet()
			.stream()
			.map((size) -> "%s %,.1f MB".formatted(size.getKey(), size.getValue()))
			.collect(Collectors.joining(", "));
	}

	Server server() {
		return this.setup.server().get();
	}

	NodeProcess first() {
		return this.nodes.get(0);
	}

	/** Starts a node that only stores tasks. */
	NodeProcess startClient() throws IOException {
		NodeProcess client = new NodeProcess(this.setup, this.peer);
		try {
			client.awaitStart();
			client.run("pause");
			return client;
		}
		catch (IOException ex) {
			client.close();
			throw ex;
		}
	}

	List<Map<String, Double>> all(String command) throws IOException {
		List<Map<String, Double>> answers = new ArrayList<>();
		for (NodeProcess node : this.nodes) {
			answers.add(node.run(command));
		}
		return answers;
	}

	/** Stores due tasks, which wait until the nodes resume. */
	void fill(int count) throws IOException {
		all("pause");
		int lead = this.peer.canPause() ? 0 : 5 + count / 2_000;
		double left = first().run("fill %d %d".formatted(count, lead), "left");
		if (left < 0 && lead > 0) {
			throw new IllegalStateException("The tasks were due before all were stored");
		}
		// Without it, some peers run with plans for an empty table for up to a minute.
		server().analyze();
	}

	/**
	 * Lets the nodes run the tasks that wait.
	 * @return how many they run in a second
	 */
	double executions(int count) throws IOException, InterruptedException {
		all("resume");
		await(count);
		List<Map<String, Double>> figures = all("figures");
		double first = figures.stream().mapToDouble((answer) -> figure(answer, "first")).min().orElseThrow();
		double last = figures.stream().mapToDouble((answer) -> figure(answer, "last")).max().orElseThrow();
		return count * 1e6 / (last - first);
	}

	/**
	 * Waits until the nodes together have run some tasks.
	 * @throws IllegalStateException if none of them runs for some minutes
	 */
	void await(long count) throws IOException, InterruptedException {
		long progress = System.nanoTime();
		double before = -1;
		double done;
		while ((done = sum(all("count"), "count")) < count) {
			if (done > before) {
				before = done;
				progress = System.nanoTime();
			}
			else if (System.nanoTime() - progress > PATIENCE) {
				throw new IllegalStateException("Only %.0f of %d tasks have run".formatted(done, count));
			}
			TimeUnit.MILLISECONDS.sleep(50);
		}
	}

	static double figure(Map<String, Double> answer, String name) {
		return Objects.requireNonNull(answer.get(name), name);
	}

	static double sum(List<Map<String, Double>> answers, String figure) {
		return answers.stream().mapToDouble((answer) -> answer.getOrDefault(figure, 0.0)).sum();
	}

	@Override
	public void close() {
		this.nodes.forEach(NodeProcess::close);
	}

}
