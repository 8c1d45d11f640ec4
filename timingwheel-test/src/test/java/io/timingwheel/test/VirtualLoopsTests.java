package io.timingwheel.test;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.durable.node.DurableHandler;
import io.timingwheel.spring.durable.node.DurableHandlers;
import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.durable.node.NodeSettings;
import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.test.InMemoryTaskStore;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.internal.Backoff;
import io.timingwheel.spring.task.internal.CompositeTaskExecutionInterceptor;
import io.timingwheel.spring.task.internal.HandOverExecutors;
import io.timingwheel.spring.task.internal.RunningBodies;
import io.timingwheel.spring.task.internal.TaskPolicies;
import io.timingwheel.spring.task.internal.TaskRecorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node in virtual time, on a store in memory.
 */
class VirtualLoopsTests {

	private static final String NAME = "run";

	private static final Duration HOUR = Duration.ofHours(1);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final VirtualClock clock = new VirtualClock();

	private final InjectedFaults injected = new InjectedFaults();

	private final StoreFaults faults = new StoreFaults(this.injected, this.clock);

	private final AtomicInteger claims = new AtomicInteger();

	private final InMemoryTaskStore store = new InMemoryTaskStore() {

		@Override
		public Claimed claim(ClaimRequest request) {
			VirtualLoopsTests.this.claims.incrementAndGet();
			return super.claim(request);
		}

	};

	private final TimingWheel wheel = TimingWheel.builder(Runnable::run)
		.timeSource(this.clock.timeSource())
		.tick(VirtualClock.TICK)
		.shards(1)
		.build();

	private final VirtualLoops loops = new VirtualLoops(this.clock);

	private final List<String> runs = new ArrayList<>();

	private Consumer<String> body = (payload) -> {
	};

	private final DurableNode node = node();

	private long start;

	private DurableNode node() {
		DurableHandlers handlers = new DurableHandlers();
		handlers.register(new Handler());
		TaskRecorder recorder = new TaskRecorder(() -> {
		});
		DurableNode.Services services = new DurableNode.Services((name) -> recorder, TaskPolicies.none(),
				new RunningBodies(), HandOverExecutors.onCallingThread(),
				CompositeTaskExecutionInterceptor.of(List.of(this.faults, this.injected)), () -> true);
		NodeSettings settings = new NodeSettings("node", LEASE, Duration.ofSeconds(2), Duration.ofSeconds(1), 100, 1000,
				3, 3, new Backoff(Duration.ofSeconds(1), 2, HOUR, 0.5), 1000, HOUR);
		return new DurableNode(this.faults.around(this.store), settings, handlers, this.wheel, services, this.loops);
	}

	@BeforeEach
	void start() {
		this.store.testing().setClock(this.clock::millis);
		this.start = this.clock.millis();
		this.node.start();
	}

	@AfterEach
	void stop() throws InterruptedException {
		this.node.shutdown(Duration.ZERO);
		this.loops.close();
		this.wheel.close();
	}

	private void advance(Duration by) {
		this.loops.rouse();
		this.clock.advance(by);
	}

	private void enqueue(String payload, Duration delay) {
		this.store.enqueue(List.of(new NewTask(UUID.randomUUID().toString(), NAME, payload, payload, null,
				DueTime.after(delay), IfPending.REPLACE, null)));
	}

	@Test
	void tasksRunAtTheirTimesInTheirOrderAndNobodyPolls() {
		enqueue("month", Duration.ofDays(30));
		enqueue("hour", HOUR);
		enqueue("later", HOUR.plusMillis(1));
		advance(HOUR.minusMillis(1));
		assertThat(this.runs).isEmpty();
		advance(Duration.ofDays(31));
		assertThat(this.runs).containsExactly("hour 1 at 3600000", "later 1 at 3600001", "month 1 at 2592000000");
		assertThat(this.store.counts(List.of())).isEmpty();
		assertThat(this.claims).hasValueLessThan(20);
	}

	@Test
	void aBodyChangesWhatIsDueNext() {
		enqueue("first", HOUR);
		enqueue("cancelled", HOUR);
		this.body = (payload) -> {
			if (payload.equals("first")) {
				this.store.cancel(Target.of(new TaskId(NAME, "cancelled"), Target.Kind.ONCE));
				enqueue("chained", Duration.ofMinutes(1));
			}
		};
		advance(HOUR.multipliedBy(2));
		assertThat(this.runs).containsExactly("first 1 at 3600000", "chained 1 at 3660000");
	}

	@Test
	void aCrashBringsTheTaskBackAfterItsLease() {
		this.injected.crashNext(NAME);
		enqueue("a", HOUR);
		advance(HOUR.plus(LEASE).minusMillis(1));
		assertThat(this.runs).containsExactly("a 1 at 3600000");
		advance(Duration.ofMillis(1));
		assertThat(this.runs).containsExactly("a 1 at 3600000", "a 2 at 3630000");
		assertThat(this.store.counts(List.of())).isEmpty();
		assertThat(this.clock.failures()).isEmpty();
	}

	@Test
	void aTaskIsDeliveredTwiceAtTheSameTimeAlsoIfItSchedulesItselfAgain() {
		this.injected.deliverTwice(true);
		enqueue("a", HOUR);
		enqueue("b", HOUR);
		this.body = (payload) -> {
			if (payload.equals("a")) {
				enqueue("a", HOUR);
			}
		};
		advance(HOUR.multipliedBy(2));
		assertThat(this.runs)
			.containsSubsequence("a 1 at 3600000", "a 2 at 3600000", "a 1 at 7200000", "a 2 at 7200000")
			.containsSubsequence("b 1 at 3600000", "b 2 at 3600000")
			.hasSize(6);
		this.injected.reset();
		this.body = (payload) -> {
		};
		advance(HOUR);
		assertThat(this.runs).hasSize(7);
		assertThat(this.store.counts(List.of())).isEmpty();
	}

	@Test
	void aFailureIsNotedOnceAndTriedAgainWithoutJitter() {
		IllegalStateException failure = new IllegalStateException("no");
		this.body = (payload) -> {
			throw failure;
		};
		this.injected.deliverTwice(true);
		enqueue("a", HOUR);
		advance(HOUR.plusSeconds(1));
		assertThat(this.runs).containsExactly("a 1 at 3600000", "a 2 at 3601000");
		assertThat(this.clock.failures()).containsExactly(failure);
	}

	@Test
	void aTaskThatCannotBeReadHasFailed() {
		enqueue("unreadable", HOUR);
		advance(HOUR);
		assertThat(this.runs).isEmpty();
		assertThat(this.clock.failures()).singleElement()
			.asString()
			.contains("The durable task \"run\" could not run", "cannot be read");
	}

	@Test
	void eachRunOfAScheduleIsDeliveredTwice() {
		this.injected.deliverTwice(true);
		this.store.recur(new NewSchedule(UUID.randomUUID().toString(), NAME, "key", "s", null, "every(PT1H)",
				DueTime.after(HOUR), false));
		advance(HOUR.multipliedBy(2));
		assertThat(this.runs).containsExactly("s 1 at 3600000", "s 2 at 3600000", "s 1 at 7200000", "s 2 at 7200000");
	}

	@Test
	void aNodeThatIsPausedRunsNothing() {
		enqueue("a", HOUR);
		this.node.pause();
		advance(HOUR.multipliedBy(2));
		assertThat(this.runs).isEmpty();
		this.node.resume();
		advance(Duration.ZERO);
		assertThat(this.runs).containsExactly("a 1 at 7200000");
	}

	@Test
	void aStoreThatDoesNotAnswerIsAskedAgainWhenTheTimeIsMoved() {
		enqueue("a", HOUR);
		this.store.testing().setClock(() -> {
			throw new IllegalStateException("down");
		});
		advance(HOUR);
		assertThat(this.node.outage()).isNotNull();
		this.store.testing().setClock(this.clock::millis);
		advance(Duration.ZERO);
		assertThat(this.node.outage()).isNull();
		assertThat(this.runs).containsExactly("a 1 at 3600000");
	}

	private final class Handler implements DurableHandler {

		@Override
		public String name() {
			return NAME;
		}

		@Override
		public Method method() {
			return Handler.class.getDeclaredMethods()[0];
		}

		@Override
		public Supplier<? extends Executor> executor() {
			return () -> Runnable::run;
		}

		@Override
		public Object[] arguments(String payload) {
			if (payload.equals("unreadable")) {
				throw new IllegalArgumentException("The payload cannot be read");
			}
			return new Object[] { payload };
		}

		@Override
		public Object invoke(Object[] arguments) {
			int deliveries = DelayedTaskContext.current().orElseThrow().deliveries();
			VirtualLoopsTests.this.runs.add(arguments[0] + " " + deliveries + " at "
					+ (VirtualLoopsTests.this.clock.millis() - VirtualLoopsTests.this.start));
			VirtualLoopsTests.this.body.accept((String) arguments[0]);
			return null;
		}

		@Override
		public void handleError(Throwable error, Object[] arguments) {
		}

	}

}
