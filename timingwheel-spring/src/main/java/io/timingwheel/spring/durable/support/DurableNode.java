package io.timingwheel.spring.durable.support;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;

import io.timingwheel.DirectTask;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.task.support.DelayedTaskRegistry;
import io.timingwheel.spring.task.support.HandOverExecutors;
import io.timingwheel.spring.task.support.TaskExecutionInterceptor;
import io.timingwheel.spring.task.support.TaskRecorder;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

/**
 * This application as one of the nodes that run the tasks of a store. A task comes by a
 * claim of the poller, or straight from the thread that stored it; waits on the wheel;
 * begins, with the others that are due, by the word of the store; runs on its executor;
 * and is settled, with the others that have ended. What has begun and is not settled has
 * its lease renewed.
 */
final class DurableNode {

	private static final Log logger = LogFactory.getLog(DurableNode.class);

	/**
	 * How long bodies have, once interrupted, and the store, to hear of the last ones.
	 */
	private static final Duration GRACE = Duration.ofSeconds(5);

	private final DelayedTaskStore store;

	private final DurableSettings settings;

	private final DurableHandlerRegistry handlers;

	private final PayloadCodec codec;

	private final TimingWheel wheel;

	private final DelayedTaskRegistry tasks;

	private final HandOverExecutors handOvers;

	private final @Nullable TaskExecutionInterceptor interceptor;

	private final StoreAvailability availability;

	private final NodeFigures figures = new NodeFigures();

	private final StoreClock storeClock = new StoreClock();

	private final InFlight inFlight;

	private final TaskPoller poller;

	private final TaskBegins begins;

	private final Settlements settlements;

	private final LeaseKeeper leases;

	private volatile boolean started;

	private volatile boolean closing;

	DurableNode(DelayedTaskStore store, DurableSettings settings, DurableHandlerRegistry handlers, PayloadCodec codec,
			TimingWheel wheel, DelayedTaskRegistry tasks, HandOverExecutors handOvers,
			@Nullable TaskExecutionInterceptor interceptor) {
		this.store = store;
		this.availability = new StoreAvailability(store::partialOutage);
		this.settings = settings;
		this.handlers = handlers;
		this.codec = codec;
		this.wheel = wheel;
		this.tasks = tasks;
		this.handOvers = handOvers;
		this.interceptor = interceptor;
		Signal room = new Signal();
		this.inFlight = new InFlight(settings.maxInFlight(), room::raise);
		this.poller = new TaskPoller(this, this.inFlight, room);
		this.begins = new TaskBegins(this);
		this.settlements = new Settlements(this);
		this.leases = new LeaseKeeper(this, this.inFlight);
	}

	synchronized void start() {
		if (!this.started) {
			this.started = true;
			this.begins.start();
			this.settlements.start();
			this.leases.start();
			this.poller.start();
		}
	}

	DelayedTaskStore store() {
		return this.store;
	}

	DurableSettings settings() {
		return this.settings;
	}

	DurableHandlerRegistry handlers() {
		return this.handlers;
	}

	PayloadCodec codec() {
		return this.codec;
	}

	TimingWheel wheel() {
		return this.wheel;
	}

	StoreAvailability availability() {
		return this.availability;
	}

	NodeFigures figures() {
		return this.figures;
	}

	Settlements settlements() {
		return this.settlements;
	}

	@Nullable TaskExecutionInterceptor interceptor() {
		return this.interceptor;
	}

	TaskRecorder recorder(DurableHandler handler) {
		return this.tasks.recorder(handler.name());
	}

	Executor executor(DurableHandler handler) {
		return this.handOvers.safe(handler.executor().get());
	}

	long wheelNanos() {
		return this.wheel.timeSource().nanoTime();
	}

	/**
	 * Hears of the engine's time with a reply.
	 * @param now the time
	 * @param sent before the request, by the clock of the wheel
	 * @return by how many nanoseconds the wheel's clock is ahead, for what came with the
	 * reply
	 */
	long heard(long now, long sent) {
		return this.storeClock.heard(now, sent, wheelNanos());
	}

	int inFlight() {
		return this.inFlight.size();
	}

	boolean isClaiming() {
		return this.poller.isActive();
	}

	/**
	 * Offers to lease, at once, a task that is stored now.
	 * @return room for one task, {@code null} if it is better left to the poller
	 */
	@Nullable LeaseOffer offer(String name, DueTime due) {
		if (!this.started || !isClaiming() || this.handlers.find(name) == null) {
			return null;
		}
		if (!due.absolute() && due.millis() > this.settings.lookAhead().toMillis()) {
			return null;
		}
		// What others have stored, and what was stored before, is not to be crowded out.
		if (this.inFlight.reserve(this.settings.maxInFlight() / 4 + 1, 1) == 0) {
			return null;
		}
		return new LeaseOffer(this.settings.nodeId(), this.settings.lookAhead(), this.settings.lease());
	}

	/**
	 * Offers were not taken.
	 */
	void withdrawOffers(int count) {
		this.inFlight.free(count);
	}

	/**
	 * Takes a task, for which there is room.
	 * @param task the task
	 * @param term for how long the node may believe that it has begun, if it has
	 * @param ahead by how many nanoseconds the wheel's clock is ahead of the engine's
	 */
	void accept(LeasedTask task, LeaseTerm term, long ahead) {
		DurableHandler handler = this.handlers.find(task.name());
		if (handler == null) {
			// Asked for by no name of ours.
			this.inFlight.free(1);
			return;
		}
		DurableRun run = new DurableRun(task, handler, this, ahead + TimeUnit.MILLISECONDS.toNanos(task.dueAt()));
		this.inFlight.add(run);
		try {
			accept(run, term);
		}
		catch (Throwable ex) {
			// The end of its lease brings it back.
			logger.error("The durable task %s could not be accepted".formatted(run), ex);
			run.withdraw();
			this.inFlight.remove(run);
		}
	}

	private void accept(DurableRun run, LeaseTerm term) {
		LeasedTask task = run.task();
		if (this.closing) {
			giveBack(run);
		}
		else if (task.lostDeliveries() >= this.settings.maxLostDeliveries()) {
			run.withdraw();
			this.settlements.bury(run,
					"Its node ended %d times while it was running it (timingwheel.store.max-lost-deliveries)"
						.formatted(task.lostDeliveries()));
		}
		else if (task.begun()) {
			begun(run, term);
		}
		else {
			await(run);
		}
	}

	private void await(DurableRun run) {
		try {
			run.waitsFor(this.wheel.schedule((DirectTask) () -> this.begins.add(run), run.delayNanos(),
					TimeUnit.NANOSECONDS));
		}
		catch (RejectedExecutionException ex) {
			// The wheel is full or stopped.
			giveBack(run);
		}
	}

	/**
	 * Hands a task that has begun to its executor.
	 */
	void begun(DurableRun run, LeaseTerm term) {
		if (!run.begun(term)) {
			return;
		}
		try {
			run.executor().execute(run);
		}
		catch (Throwable ex) {
			// Refused, or no thread to be had. The wheel asks again until the executor
			// takes it.
			try {
				this.wheel.schedule(run, 0, TimeUnit.NANOSECONDS);
			}
			catch (RejectedExecutionException full) {
				giveBack(run);
			}
		}
	}

	/**
	 * The task was cancelled, replaced, moved, or claimed by another node.
	 */
	void refused(DurableRun run) {
		run.withdraw();
		this.figures.addRefused();
		this.inFlight.remove(run);
	}

	/**
	 * Another node may have the task by now.
	 */
	void loseLease(DurableRun run) {
		if (run.loseLease()) {
			lost(run);
		}
	}

	void lost(DurableRun run) {
		this.figures.addLost();
		logger.warn("The lease of the durable task %s is over: another node may run it".formatted(run));
		this.inFlight.remove(run);
	}

	void settled(DurableRun run, Settlement.Kind kind, Reply reply) {
		if (kind == Settlement.Kind.RELEASED || kind == Settlement.Kind.CUT_OFF) {
			this.figures.addReleased();
		}
		if (reply == Reply.REFUSED && kind != Settlement.Kind.RELEASED) {
			this.figures.addLost();
		}
		this.inFlight.remove(run);
	}

	private void giveBack(DurableRun run) {
		if (run.withdraw()) {
			this.settlements.release(run, false);
		}
	}

	/**
	 * Gives back the tasks whose bodies have not begun.
	 */
	void releaseWaiting() {
		this.inFlight.runs().forEach(this::giveBack);
	}

	void pause() {
		this.poller.pause();
		this.availability.idle(StoreAvailability.Caller.CLAIM);
		releaseWaiting();
	}

	void resume() {
		this.poller.resume();
	}

	void stopClaiming() {
		this.poller.stop();
	}

	/**
	 * Gives back what has not begun, waits for the bodies that run, and cuts off and
	 * gives back those that take too long.
	 * @param period how long to wait at most
	 */
	synchronized void shutdown(Duration period) throws InterruptedException {
		this.closing = true;
		stopClaiming();
		if (!this.started) {
			return;
		}
		try {
			this.poller.join(GRACE);
			releaseWaiting();
			if (!awaitBodies(period)) {
				long cut = this.inFlight.runs().stream().filter(DurableRun::cutOff).count();
				logger.warn("Interrupted %d durable tasks that were still running after %d ms".formatted(cut,
						period.toMillis()));
				awaitBodies(GRACE);
			}
			if (!this.settlements.awaitEmpty(GRACE)) {
				logger.warn("The store could not be told of all tasks: other nodes run %d once their leases are over"
					.formatted(this.inFlight.size()));
			}
		}
		finally {
			this.begins.stop();
			this.leases.stop();
			this.settlements.stop();
		}
		this.begins.join(GRACE);
		this.leases.join(GRACE);
		this.settlements.join(GRACE);
	}

	private boolean awaitBodies(Duration period) throws InterruptedException {
		long end = System.nanoTime() + period.toNanos();
		while (this.inFlight.runs().stream().anyMatch(DurableRun::isRunning)) {
			if (System.nanoTime() - end > 0) {
				return false;
			}
			TimeUnit.MILLISECONDS.sleep(5);
		}
		return true;
	}

}
