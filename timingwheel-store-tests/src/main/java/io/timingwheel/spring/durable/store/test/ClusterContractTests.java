package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.LeasedTask;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three simple nodes run schedules. They stall for longer than their leases, stop, are
 * killed within a run, and lose replies. The system properties {@code timingwheel.seed}
 * and {@code timingwheel.runs} repeat a test, and make a longer one.
 *
 * @since 0.1
 */
public abstract class ClusterContractTests extends StoreContract {

	private static final int SCHEDULES = 20;

	private static final int RUNS = Integer.getInteger("timingwheel.runs", 300);

	private final long seed = Long.getLong("timingwheel.seed", System.nanoTime());

	private final SplittableRandom random = new SplittableRandom(this.seed);

	/** The time of the run that has to end next, by the id of its schedule. */
	private final Map<String, Long> next = new HashMap<>();

	private final Map<String, Duration> periods = new HashMap<>();

	private int ended;

	@Test
	void theRunsOfAScheduleEndOnceEachAndInOrderWhateverHappensToNodes() throws Exception {
		for (int i = 0; i < SCHEDULES; i++) {
			Duration period = Duration.ofSeconds(this.random.nextInt(1, 10));
			Enqueued schedule = this.a.store().recur(newSchedule("k" + i, HOURLY, period));
			this.periods.put(schedule.id(), period);
			this.next.put(schedule.id(), schedule.dueAt());
		}
		List<SimpleNode> nodes = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			nodes.add(new SimpleNode(openNode("node " + i)));
		}
		while (this.ended < RUNS) {
			later(Duration.ofMillis(this.random.nextInt(1, 1000)));
			nodes.forEach(this::turn);
			disturb(nodes);
		}
		// All nodes go on, and the next runs are so far away that they catch up.
		this.periods.replaceAll((id, period) -> HOUR.multipliedBy(24));
		nodes.forEach((node) -> node.stalled = false);
		for (int i = 0; i < 100; i++) {
			later(LEASES_OVER.dividedBy(20));
			nodes.forEach(this::turn);
		}
		assertThat(this.next.values()).as("no run is missing, seed %d", this.seed).allMatch((time) -> time > now());
	}

	private void disturb(List<SimpleNode> nodes) {
		SimpleNode node = nodes.get(this.random.nextInt(nodes.size()));
		switch (this.random.nextInt(60)) {
			case 0 -> node.held.clear();
			case 1 -> {
				node.held.forEach(node.calls::releaseUnstarted);
				node.held.clear();
			}
			case 2 -> node.stalled = true;
			case 3 -> later(LEASES_OVER);
			default -> node.stalled &= this.random.nextInt(10) > 0;
		}
	}

	/**
	 * A node claims, and runs what is due.
	 */
	private void turn(SimpleNode node) {
		if (node.stalled) {
			return;
		}
		Claimed claimed = node.calls.store()
			.claim(node.calls.request(Map.of(NAME, new Share(4, 4)), 6, this.random.nextBoolean()));
		if (this.random.nextInt(100) > 0) {
			node.held.addAll(claimed.tasks());
		}
		for (LeasedTask task : List.copyOf(node.held)) {
			if (task.dueAt() <= now()) {
				node.held.remove(task);
				Reply reply = task.begun() ? node.calls.renew(task) : node.calls.begin(task);
				if (reply == Reply.DONE && this.random.nextInt(100) > 0) {
					end(node, task);
				}
			}
		}
	}

	private void end(SimpleNode node, LeasedTask task) {
		long time = Objects.requireNonNull(task.schedule()).scheduledAt();
		assertThat(time).as("the only run that is due, seed %d", this.seed).isEqualTo(this.next.get(task.id()));
		assertThat(time).as("not early, seed %d", this.seed).isLessThanOrEqualTo(now());
		long following = time + Objects.requireNonNull(this.periods.get(task.id())).toMillis();
		if (node.calls.repeat(task, at(following)) == Reply.DONE) {
			this.ended++;
			this.next.put(task.id(), following);
		}
	}

	private static final class SimpleNode {

		private final StoreNode calls;

		/** The tasks that this node has claimed and not run. */
		private final List<LeasedTask> held = new ArrayList<>();

		private boolean stalled;

		SimpleNode(StoreNode calls) {
			this.calls = calls;
		}

	}

}
