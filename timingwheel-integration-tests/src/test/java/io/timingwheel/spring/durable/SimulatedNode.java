package io.timingwheel.spring.durable;

import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.timingwheel.ManualTimeSource;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.call.CallParts;
import io.timingwheel.spring.durable.call.DurableTasks;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.node.NodeSettings;
import io.timingwheel.spring.durable.payload.PayloadCodec;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.Missed;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.TaskClock;
import tools.jackson.databind.json.JsonMapper;

/**
 * A node in virtual time, which polls and claims as with threads. All its work is done by
 * the thread that advances the clock.
 */
final class SimulatedNode {

	static final Duration LEASE = Duration.ofSeconds(10);

	private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

	private final TimingWheel wheel;

	private final DurableNode node;

	private final DurableTasks durable;

	private boolean paused;

	/**
	 * Starts a node.
	 * @param names the names of the tasks, and what becomes of missed times
	 * @param body the body of each task
	 */
	SimulatedNode(String id, ManualTimeSource time, DelayedTaskStore store, Map<String, Missed> names,
			NumberBody body) {
		this.wheel = TimingWheel.builder(Runnable::run).timeSource(time).tick(Duration.ofMillis(1)).shards(1).build();
		HandOverExecutors handOvers = HandOverExecutors.onCallingThread();
		DelayedTaskRegistry tasks = new DelayedTaskRegistry(this.wheel, new TaskClock(time, Clock.systemUTC()),
				handOvers, null, null, TaskPolicies.none());
		NodeSettings settings = new TestSettings().nodeId(id)
			.lease(LEASE)
			.pollInterval(POLL_INTERVAL)
			.maxLostDeliveries(5)
			.build();
		PayloadCodec codec = new PayloadCodec(JsonMapper.builder().build(), settings.maxPayloadBytes(), List::of);
		DurableHandlers handlers = new DurableHandlers();
		names.forEach((name, missed) -> handlers
			.register(new NumberHandler(name, missed, body, () -> Runnable::run, SimulatedNode::fail, codec)));
		this.node = new DurableNode(store, settings, handlers, this.wheel,
				new Services(tasks::recorder, tasks.policies(), tasks.runningBodies(), handOvers, null, () -> true),
				new SimulatedLoops(this.wheel));
		this.durable = new DurableTasks(
				new CallParts(store, handlers, tasks::recorder, this.wheel::nanoTime, this.node::expect), codec, null);
		this.node.start();
	}

	private static void fail(Throwable error) {
		throw new IllegalStateException(error);
	}

	DurableTasks durable() {
		return this.durable;
	}

	boolean isPaused() {
		return this.paused;
	}

	void pause() {
		this.paused = true;
		this.node.pause();
	}

	void resume() {
		this.paused = false;
		this.node.resume();
	}

	void shutdown() throws InterruptedException {
		this.node.shutdown(Duration.ZERO);
		this.wheel.close();
	}

	/**
	 * Ends the node at once. It gives nothing back, and the store hears nothing more of
	 * it.
	 */
	void kill() {
		this.wheel.close();
	}

}
