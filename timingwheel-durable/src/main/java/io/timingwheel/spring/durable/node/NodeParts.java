package io.timingwheel.spring.durable.node;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableNode.Services;
import io.timingwheel.spring.durable.node.DurableNode.Settings;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.jspecify.annotations.Nullable;

/** What all steps of a node have in common. Thread-safe. */
final class NodeParts {

	final DelayedTaskStore store;

	final Settings settings;

	final DurableHandlers handlers;

	final NamePolicies policies;

	final TimingWheel wheel;

	final Services services;

	final StoreAvailability availability;

	final Held held;

	final NodeLoop.Factory factory;

	final List<NodeLoop> loops = new ArrayList<>();

	/** See {@link DurableNode#figures()}. */
	final LongAdder claims = new LongAdder();

	final LongAdder claimed = new LongAdder();

	final LongAdder retried = new LongAdder();

	final LongAdder released = new LongAdder();

	final LongAdder refused = new LongAdder();

	final LongAdder lostLeases = new LongAdder();

	final LongAdder expiredDead = new LongAdder();

	@Nullable NodeLoop poller;

	NodeParts(DelayedTaskStore store, Settings settings, DurableHandlers handlers, TimingWheel wheel, Services services,
			NodeLoop.Factory factory) {
		this.store = store;
		this.settings = factory.settings(settings);
		this.handlers = handlers;
		this.policies = new NamePolicies(handlers, services.policies());
		this.wheel = wheel;
		this.services = services;
		this.factory = factory;
		this.availability = new StoreAvailability(store);
		this.held = new Held(this);
	}

	NodeLoop loop(String name, Runnable round) {
		NodeLoop loop = this.factory.loop(name, round);
		this.loops.add(loop);
		return loop;
	}

	void wake() {
		Objects.requireNonNull(this.poller).wake();
	}

	TaskRecorder recorder(Run run) {
		return this.services.recorders().apply(run.name());
	}

	long nanoTime() {
		return this.wheel.nanoTime();
	}

	/** Runs an action on the wheel; {@code false} if the wheel is full or stopped. */
	boolean runLater(DirectTask action, long nanos) {
		try {
			this.wheel.schedule(action, nanos, TimeUnit.NANOSECONDS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
	}

}
