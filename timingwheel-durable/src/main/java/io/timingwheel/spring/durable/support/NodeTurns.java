package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.internal.Backoff;
import org.jspecify.annotations.Nullable;

/**
 * How the parts of a node get their turns, and the clock that they go by. In production
 * each part has a thread, which waits by the clock of the JVM. With virtual time, the
 * thread that moves the time gives the parts their turns, one after another.
 *
 * <p>
 * With virtual time a node claims one task at a time and none before it is due. A body
 * can therefore still cancel or replace what is due next, and the order of the runs is
 * the order of the due times. Nobody polls: the node looks at the store when the time is
 * moved, when a task is due, and after each of its own changes.
 *
 * <p>
 * A simulation has virtual time too, but its nodes poll, look ahead and claim batches as
 * with threads. It serves tests with several nodes.
 *
 * @since 0.1
 */
public final class NodeTurns {

	private final @Nullable TimingWheel wheel;

	private final @Nullable DeliveryFaults faults;

	private final boolean simulation;

	private final List<WheelLoop> loops = new CopyOnWriteArrayList<>();

	private volatile int moves;

	private volatile Runnable onWork = () -> {
	};

	private NodeTurns(@Nullable TimingWheel wheel, @Nullable DeliveryFaults faults, boolean simulation) {
		this.wheel = wheel;
		this.faults = faults;
		this.simulation = simulation;
	}

	/**
	 * Gives each part a thread.
	 * @return the turns of one node
	 */
	public static NodeTurns onThreads() {
		return new NodeTurns(null, null, false);
	}

	/**
	 * Gives the parts their turns when a test moves the time.
	 * @param wheel a wheel on the clock that the test moves; its tick is a millisecond
	 * @param faults what is to go wrong
	 * @return the turns of one node
	 */
	public static NodeTurns onWheel(TimingWheel wheel, DeliveryFaults faults) {
		return new NodeTurns(wheel, faults, false);
	}

	/**
	 * Gives the parts their turns when a test moves the time, at the times at which they
	 * would have them with threads.
	 * @param wheel a wheel on the clock that the test moves; its tick is a millisecond.
	 * When it is closed, the node stops at once, as if it were killed
	 * @return the turns of one of several nodes
	 */
	public static NodeTurns simulated(TimingWheel wheel) {
		return new NodeTurns(wheel, null, true);
	}

	/**
	 * Lets each part of the node have a turn when the time is moved next. The store may
	 * have changed, or may answer again.
	 */
	public void rouse() {
		this.moves++;
		this.loops.forEach(WheelLoop::rouse);
	}

	/**
	 * How often a test has begun to move the time.
	 */
	int moves() {
		return this.moves;
	}

	/**
	 * Creates the loop of one part of the node.
	 * @param name the name of its thread
	 */
	StoreLoop loop(String name, Runnable round) {
		if (this.wheel == null) {
			return new StoreThread(name, round);
		}
		WheelLoop loop = new WheelLoop(this.wheel, round, () -> this.onWork.run(), isVirtual());
		this.loops.add(loop);
		return loop;
	}

	/**
	 * Sets what happens after each turn in which a part did some work. Does nothing with
	 * threads and in a simulation.
	 */
	void onWork(Runnable onWork) {
		if (isVirtual()) {
			this.onWork = onWork;
		}
	}

	/**
	 * With virtual time, gives the parts that have something to do a turn on the current
	 * thread.
	 */
	void flush() {
		boolean worked = true;
		while (worked) {
			worked = false;
			for (WheelLoop loop : this.loops) {
				worked |= loop.flush();
			}
		}
	}

	/**
	 * Whether the node looks at the store only when there is a reason to.
	 */
	boolean isVirtual() {
		return this.wheel != null && !this.simulation;
	}

	/**
	 * The time by the clock of this node, in nanoseconds.
	 */
	long nanoTime() {
		return (this.wheel != null) ? this.wheel.timeSource().nanoTime() : System.nanoTime();
	}

	@Nullable DeliveryFaults faults() {
		return this.faults;
	}

	/**
	 * How long a part that has nothing to do waits, unless somebody wakes it.
	 * @param nanos how long with threads
	 */
	long idleNanos(long nanos) {
		return isVirtual() ? Long.MAX_VALUE : nanos;
	}

	/**
	 * How long a reading of the store serves again. With virtual time a test asks right
	 * after its changes.
	 * @param nanos how long with threads
	 */
	long recentNanos(long nanos) {
		return isVirtual() ? 0 : nanos;
	}

	/**
	 * The settings of the node. With virtual time the backoff does not vary, and dead
	 * tasks stay.
	 * @param settings the settings with threads
	 */
	DurableSettings settings(DurableSettings settings) {
		if (!isVirtual()) {
			return settings;
		}
		Backoff backoff = settings.backoff();
		return new DurableSettings(settings.nodeId(), settings.lease(), Duration.ZERO, settings.pollInterval(), 1,
				settings.maxInFlight(), settings.maxAttempts(), settings.maxLostDeliveries(),
				new Backoff(backoff.initial(), backoff.multiplier(), backoff.max(), 0), settings.maxPayloadBytes(),
				null);
	}

}
