package io.timingwheel.spring.durable.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

import com.zaxxer.hikari.HikariDataSource;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.StartLimits;
import io.timingwheel.spring.task.IfPending;
import org.h2.api.Trigger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The times in the reply of a slow claim. The change of each task takes some time.
 */
class ClaimTimeTests {

	private static final String NAME = "close-order";

	private static final Duration LEASE = Duration.ofMinutes(5);

	private static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	/** A delay within the look-ahead, and longer than a test takes. */
	private static final Duration SOON = Duration.ofSeconds(90);

	private static final int SLOW_MILLIS = 250;

	/** By how much two clocks may differ that measure the same time. */
	private static final int CLOCKS_APART = 50;

	private static final int LEAST_MILLIS = SLOW_MILLIS - CLOCKS_APART;

	private static final StartLimits ONE = new StartLimits(1, 0, 0, 1);

	private static final StartLimits FAST = new StartLimits(0, 0, 1, 100);

	private HikariDataSource pool;

	@AfterEach
	void close() {
		this.pool.close();
	}

	private DelayedTaskStore slowStore(TestDatabase database) {
		this.pool = database.newTaskDatabase();
		new JdbcTemplate(this.pool).execute(switch (database) {
			case POSTGRESQL -> """
					create function slow() returns trigger language plpgsql as $$
						begin perform pg_sleep(%d / 1000.0); return new; end $$;
					create trigger slow before update on timingwheel_task for each row execute function slow()"""
				.formatted(SLOW_MILLIS);
			case MARIADB ->
				"create trigger slow before update on timingwheel_task for each row set @slept = sleep(%d / 1000.0)"
					.formatted(SLOW_MILLIS);
			default -> "create trigger slow before update on timingwheel_task for each row call '%s'"
				.formatted(SlowUpdate.class.getName());
		});
		return new JdbcDelayedTaskStore(this.pool, this.pool, TableName.DEFAULT);
	}

	/**
	 * A node takes the time of a claim for the time when it has the reply, and starts
	 * tasks late by the difference.
	 */
	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
	void theTimeOfAClaimIsThatAfterTheChangeOfTheTasks(TestDatabase database) {
		DelayedTaskStore slow = slowStore(database);
		slow.enqueueAll(List.of(task(SOON), task(SOON)));
		long before = slow.now();
		Claimed claimed = claim(slow, Map.of());
		assertThat(claimed.tasks()).hasSize(2);
		assertThat(claimed.now()).isBetween(before + 2 * LEAST_MILLIS, slow.now() + CLOCKS_APART);
		for (StartLimits limits : List.of(ONE, FAST)) {
			Enqueued due = slow.enqueue(task(Duration.ZERO));
			before = slow.now();
			claimed = claim(slow, Map.of(NAME, limits));
			assertThat(claimed.tasks()).extracting(LeasedTask::id).containsExactly(due.id());
			assertThat(claimed.now()).isBetween(before + LEAST_MILLIS, slow.now() + CLOCKS_APART);
			slow.acknowledge(List.of(claimed.tasks().get(0).ref()));
		}
	}

	/**
	 * If the second task is due before the claim begins, the claim takes both tasks, and
	 * the test tries again.
	 */
	@Test
	void aTaskOfALimitedNameThatFallsDueDuringAClaimIsNoSuspectAndStartsAtOnce() {
		DelayedTaskStore slow = slowStore(TestDatabase.POSTGRESQL);
		AtomicLong nextDue = new AtomicLong();
		Claimed claimed = await().atMost(Duration.ofMinutes(3)).until(() -> {
			slow.deleteAll();
			slow.enqueue(task(Duration.ZERO));
			nextDue.set(slow.enqueue(task(Duration.ofMillis(Claimed.MAX_PAUSE_MILLIS))).dueAt());
			return claim(slow, Map.of(NAME, new StartLimits(10, 0, 0, 1)));
		}, (each) -> each.tasks().size() == 1);
		assertThat(claimed.now()).isGreaterThan(nextDue.get());
		assertThat(claimed.startAt()).isEqualTo(nextDue.get());
		assertThat(claimed.nextAt()).isGreaterThan(claimed.now());
	}

	/**
	 * A node that found no task sleeps from the end of the claim, and leases no task of a
	 * limited name before the task is due.
	 */
	@ParameterizedTest
	@EnumSource(names = { "H2_MEMORY", "POSTGRESQL", "MARIADB" })
	void aClaimTellsWhatIsDueOfALimitedNameUntilTheNodeClaimsAgain(TestDatabase database) {
		DelayedTaskStore slow = slowStore(database);
		Duration pause = Duration.ofSeconds(30);
		for (StartLimits limits : List.of(ONE, FAST)) {
			slow.enqueue(task(Duration.ZERO));
			List<LeasedTask> due = claim(slow, Map.of(NAME, limits), pause).tasks();
			assertThat(due).hasSize(1);
			slow.acknowledge(List.of(due.get(0).ref()));
			long next = slow.enqueue(task(pause.plusMillis(LeaseTimes.CLAIM_MILLIS))).dueAt();
			// The first of these claims has not looked at the name, on PostgreSQL.
			for (int i = 0; i < 2; i++) {
				Claimed claimed = claim(slow, Map.of(NAME, limits), pause);
				assertThat(claimed.tasks()).isEmpty();
				assertThat(claimed.startAt()).isEqualTo(next);
			}
			slow.deleteAll();
		}
	}

	private static NewTask task(Duration delay) {
		return new NewTask(UUID.randomUUID().toString(), NAME, null, "{}", DueTime.after(delay), IfPending.REPLACE,
				null);
	}

	private static Claimed claim(DelayedTaskStore store, Map<String, StartLimits> limits) {
		return claim(store, limits, Duration.ofMillis(DelayedTaskStore.MAX_TIME));
	}

	private static Claimed claim(DelayedTaskStore store, Map<String, StartLimits> limits, Duration maxPause) {
		return store.claim(new ClaimRequest("a", Map.of(NAME, new Limit(10, limits.isEmpty() ? 10 : 0)), 10, false,
				LOOK_AHEAD, LEASE, Long.MAX_VALUE, limits, maxPause));
	}

	/**
	 * A trigger of H2.
	 */
	public static final class SlowUpdate implements Trigger {

		@Override
		public void fire(Connection connection, Object[] before, Object[] after) {
			try {
				Thread.sleep(SLOW_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}

	}

}
