package io.timingwheel.test;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.internal.StoreNode;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import io.timingwheel.spring.task.memory.MemoryTaskReader;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.util.ReflectionUtils;

/** The virtual time of one wheel and, if there is one, one store. */
final class DefaultVirtualTime implements VirtualTime, SmartInitializingSingleton {

	static final int MAX_RUNS = 20_000;

	private static final int MAX_STEPS = 1_000_000;

	private static final int NANOS_PER_MILLI = 1_000_000;

	private final VirtualClock clock;

	private final Faults faults;

	private final TestTimers timers;

	private final ObjectProvider<TimingWheel> wheel;

	private final ObjectProvider<DelayedTaskRegistry> registry;

	private final ObjectProvider<VirtualNode> nodes;

	private Optional<VirtualNode> node = Optional.empty();

	/** The thread of the test method whose turn it is holds this lock. */
	private final Lock turn = new ReentrantLock();

	/**
	 * The ids of the repeating tasks that the application has started itself,
	 * {@code null} before the first test method.
	 */
	private @Nullable Set<Long> spared;

	DefaultVirtualTime(VirtualClock clock, Faults faults, TestTimers timers, ObjectProvider<TimingWheel> wheel,
			ObjectProvider<DelayedTaskRegistry> registry, ObjectProvider<VirtualNode> nodes) {
		this.clock = clock;
		this.faults = faults;
		this.timers = timers;
		this.wheel = wheel;
		this.registry = registry;
		this.nodes = nodes;
	}

	/** Fails the start if the application cannot have virtual time. */
	@Override
	public void afterSingletonsInstantiated() {
		TimingWheel wheel = this.wheel.getIfAvailable();
		if (wheel == null) {
			throw new IllegalStateException("There is no timing wheel for @AutoConfigureVirtualTime. Remove"
					+ " timingwheel.enabled=false from this test, add TimingWheelAutoConfiguration to its configuration,"
					+ " or remove the annotation");
		}
		if (wheel.timeSource() != this.clock.timeSource()) {
			throw new IllegalStateException("There are two clocks: the TimingWheel does not go by the clock that"
					+ " @AutoConfigureVirtualTime brings. Remove the TimingWheel bean or the"
					+ " TimingWheelBuilderCustomizer that sets another time source from this test, or remove the"
					+ " annotation");
		}
		this.node = Optional.ofNullable(this.nodes.getIfAvailable());
	}

	Lock turn() {
		return this.turn;
	}

	@Override
	public void advance(Duration by) {
		if (by.isNegative()) {
			throw new IllegalArgumentException(
					"The time cannot go back: the duration is %s, and must be zero or more".formatted(by));
		}
		this.node.ifPresent((node) -> node.loops().wakeAll());
		this.clock.advance(by);
		if (now().getNano() % NANOS_PER_MILLI != 0) {
			// The store has milliseconds. The node may have rounded a delay up.
			this.node.ifPresent((node) -> node.loops().wakeAll());
			this.clock.advance(Duration.ZERO);
		}
		throwFailures();
	}

	@Override
	public void advanceTo(Instant instant) {
		advance(Duration.between(now(), instant));
	}

	@Override
	public void runAll() {
		long limit = this.faults.runs() + MAX_RUNS;
		int steps = 0;
		this.node.ifPresent((node) -> node.loops().wakeAll());
		this.clock.advance(Duration.ZERO);
		for (Duration step = nextStep(); step != null; step = nextStep()) {
			if (this.faults.runs() >= limit || ++steps > MAX_STEPS) {
				throw withFailures(new IllegalStateException(
						("The tasks do not come to an end: runAll has run %d of them up to %s, and"
								+ " %s. For tasks that schedule themselves again, use advance")
							.formatted(this.faults.runs() + MAX_RUNS - limit, now(),
									Descriptions.describe(tasks(), now()))));
			}
			this.clock.advance(step);
		}
		throwFailures();
	}

	/**
	 * The time to the next thing that may happen, {@code null} if only tasks with several
	 * runs are pending.
	 */
	private @Nullable Duration nextStep() {
		Duration nextTurn = this.node.map((node) -> node.loops().nextRound()).orElse(null);
		boolean storedOnce = nextTurn != null && this.node.filter(VirtualNode::hasUnfinishedOnce).isPresent();
		if (!storedOnce && !this.registry.getObject().hasPendingOnce()) {
			return null;
		}
		return Stream.of(this.wheel.getObject().snapshot().nextExpiry(), nextTurn)
			.filter(Objects::nonNull)
			.min(Comparator.naturalOrder())
			.orElse(null);
	}

	private void throwFailures() {
		StoreNode.Outage outage = this.node.map((node) -> node.stored().node().outage()).orElse(null);
		if (outage != null) {
			throw withFailures(new IllegalStateException(
					"The store of the durable tasks does not answer, so they did not run", outage.error()));
		}
		List<Throwable> failures = this.clock.takeFailures();
		if (!failures.isEmpty()) {
			Throwable first = failures.get(0);
			failures.stream().skip(1).forEach(first::addSuppressed);
			ReflectionUtils.rethrowRuntimeException(first);
		}
	}

	private IllegalStateException withFailures(IllegalStateException exception) {
		this.clock.takeFailures().forEach(exception::addSuppressed);
		return exception;
	}

	@Override
	public Instant now() {
		return this.clock.now();
	}

	@Override
	public Clock clock() {
		return this.clock.clock();
	}

	@Override
	public long pending(String name) {
		return tasks(name).size();
	}

	@Override
	public List<PendingTask> tasks(String name) {
		return sorted(pendingOf(name));
	}

	@Override
	public List<PendingTask> tasks() {
		Set<String> names = new TreeSet<>(this.registry.getObject().names());
		this.node.ifPresent((node) -> names.addAll(node.stored().counts().all().keySet()));
		return sorted(names.stream().flatMap(this::pendingOf).distinct());
	}

	private Stream<PendingTask> pendingOf(String name) {
		Stream<PendingTask> inMemory = new MemoryTaskReader(this.registry.getObject())
			.page(name, null, Integer.MAX_VALUE)
			.stream()
			.map((task) -> new PendingTask(task.id(), task.name(), task.key(), task.dueAt(), false));
		return Stream.concat(inMemory, this.node.stream().flatMap((node) -> node.pending(name)));
	}

	private static List<PendingTask> sorted(Stream<PendingTask> tasks) {
		return tasks.sorted(Comparator.comparing(PendingTask::dueAt)).toList();
	}

	@Override
	public void deliverTwice(boolean twice) {
		checkStore("deliverTwice");
		this.faults.deliverTwice(twice);
	}

	@Override
	public void crashBeforeAcknowledge(String name) {
		checkStore("crashBeforeAcknowledge");
		this.faults.crashNext(known("crashBeforeAcknowledge", name, true));
	}

	private void checkStore(String method) {
		if (this.node.isEmpty()) {
			throw new IllegalStateException(method + " is about durable tasks, but the application of this test has no"
					+ " store for them. Set timingwheel.store.type");
		}
	}

	@Override
	public void failNext(String name, Throwable exception) {
		Objects.requireNonNull(exception, "exception");
		this.faults.failNext(known("failNext", name, false), exception);
	}

	/** Finds a name, maybe by an earlier one. A wrong one must not be silent. */
	private String known(String method, String name, boolean durable) {
		Set<String> names = new TreeSet<>(this.node.map(VirtualNode::methodNames).orElse(Set.of()));
		if (!durable) {
			names.addAll(this.registry.getObject().names());
		}
		String known = this.node.map((node) -> node.methodName(name)).orElse(name);
		if (!names.contains(known)) {
			throw new IllegalArgumentException("%s: no %s has the name \"%s\". The names are %s".formatted(method,
					durable ? "method with durable = true" : "task", name, names));
		}
		return known;
	}

	@Override
	public synchronized void reset() {
		this.clock.checkStandsStill("begin anew");
		DelayedTaskRegistry tasks = this.registry.getObject();
		Set<Long> spared = this.spared;
		if (spared == null) {
			spared = tasks.repeating();
			this.spared = spared;
		}
		tasks.cancelAll(spared);
		tasks.resetLimits();
		this.node.ifPresent(VirtualNode::deleteAll);
		this.faults.reset();
		this.clock.reset();
		tasks.wallClockSet();
		this.timers.reset();
		this.node.ifPresent(VirtualNode::beginAnew);
	}

	@Override
	public VirtualTimeAssert assertThat() {
		return new VirtualTimeAssert(this);
	}

}
