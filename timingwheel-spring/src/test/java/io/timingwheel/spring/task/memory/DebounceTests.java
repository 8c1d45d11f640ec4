package io.timingwheel.spring.task.memory;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTask.Status;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import io.timingwheel.spring.task.TaskSpec;
import io.timingwheel.spring.task.internal.PolicySettings;
import io.timingwheel.spring.task.internal.PolicySettings.BackoffSettings;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** {@code IfPending.UPDATE} and the longest wait, in memory. */
class DebounceTests {

	private static final TaskId ID = VirtualTasks.id(1);

	private final VirtualTasks tasks = new VirtualTasks();

	private final List<String> ran = this.tasks.ran;

	private TaskSpec<?> spec(String text) {
		return this.tasks.template.task(() -> this.ran.add(text + " at " + now() / 1_000_000_000)).id(ID);
	}

	private long now() {
		return this.tasks.time.nanoTime();
	}

	@Test
	void anUpdateRunsTheNewestTaskAtTheFirstDeadline() {
		DelayedTask<?> first = spec("first").after(Duration.ofSeconds(10));
		this.tasks.advanceSeconds(4);
		DelayedTask<?> update = spec("update").ifPending(IfPending.UPDATE).after(Duration.ofSeconds(10));
		assertThat(first.status()).isEqualTo(Status.REPLACED);
		assertThat(update.dueAt()).isEqualTo(first.dueAt());
		this.tasks.advanceSeconds(6);
		assertThat(this.ran).containsExactly("update at 10");
		spec("next").ifPending(IfPending.UPDATE).after(Duration.ofSeconds(3));
		this.tasks.advanceSeconds(3);
		assertThat(this.ran).containsExactly("update at 10", "next at 13");
	}

	@Test
	void anUpdateOfATaskThatIsHeldBackKeepsItsTurn() {
		this.tasks.registry.declare(VirtualTasks.NAME, PolicySettings.NONE);
		this.tasks.setPaused(true);
		spec("first").after(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(2);
		this.tasks.template.schedule(VirtualTasks.id(2), Duration.ZERO, () -> this.ran.add("other"));
		this.tasks.advanceSeconds(2);
		spec("update").ifPending(IfPending.UPDATE).after(Duration.ofSeconds(100));
		this.tasks.advanceSeconds(1);
		this.tasks.setPaused(false);
		assertThat(this.ran).containsExactly("update at 5", "other");
	}

	@ParameterizedTest
	@EnumSource(names = { "UPDATE", "REPLACE" })
	void callsThatNeverPauseKeepTheTurnOfATaskThatWaitsForItsExecutor(IfPending ifPending) {
		this.tasks.holdBack = true;
		Duration second = Duration.ofSeconds(1);
		for (int call = 0; call < 5; call++) {
			TaskSpec<?> spec = spec("call " + call).ifPending(ifPending);
			((ifPending == IfPending.REPLACE) ? spec.maxWait(second) : spec).after(second);
			this.tasks.advance(second);
			this.tasks.schedule("other " + call, 0);
			this.tasks.turn();
		}
		this.tasks.runQueue();
		assertThat(this.ran).startsWith("call 4 at 5", "other 0").hasSize(6);
	}

	@Test
	void anUpdateDuringARunOfARepeatingTaskIsDueAfterItsOwnDelay() {
		this.tasks.template.task(() -> spec("update").ifPending(IfPending.UPDATE).after(Duration.ofSeconds(30)))
			.id(ID)
			.every(Duration.ofSeconds(10));
		this.tasks.advanceSeconds(50);
		assertThat(this.ran).containsExactly("update at 40");
	}

	@Test
	void afterAFailedAttemptTheLongestWaitCountsAnew() {
		this.tasks.registry.declare(VirtualTasks.NAME, new PolicySettings(2,
				new BackoffSettings(Duration.ofMinutes(1), null, null, null), null, null, null, null));
		this.tasks.template.task(() -> {
			throw new IllegalStateException("failed");
		}).id(ID).maxWait(Duration.ofSeconds(7)).after(Duration.ofSeconds(2));
		this.tasks.advanceSeconds(3);
		for (int second = 3; second < 12; second++) {
			spec("call " + second).maxWait(Duration.ofSeconds(7)).after(Duration.ofSeconds(2));
			this.tasks.advanceSeconds(1);
		}
		assertThat(this.ran).containsExactly("call 9 at 10");
	}

	@Test
	void aRepeatingTaskInPlaceOfADebouncedOneRepeats() {
		spec("debounced").maxWait(Duration.ofSeconds(5)).after(Duration.ofSeconds(2));
		spec("repeating").every(Duration.ofSeconds(1));
		this.tasks.advanceSeconds(3);
		assertThat(this.ran).containsExactly("repeating at 1", "repeating at 2", "repeating at 3");
	}

	@Test
	void aLongestWaitNeedsAKeyAndAReplacement() {
		Duration wait = Duration.ofSeconds(1);
		assertThatIllegalArgumentException().isThrownBy(() -> this.tasks.template.task(() -> {
		}).name("unkeyed").maxWait(wait).after(wait));
		assertThatIllegalArgumentException()
			.isThrownBy(() -> spec("").maxWait(wait).ifPending(IfPending.UPDATE).after(wait));
		assertThatIllegalArgumentException().isThrownBy(() -> spec("").maxWait(wait).every(wait));
		assertThatIllegalArgumentException().isThrownBy(() -> spec("").maxWait(wait.negated()));
	}

	/**
	 * Random calls beside a reference. It has the due time, the text and the time of the
	 * first call for each pending key.
	 */
	@Test
	void runsWhatAModelRuns() {
		long seed = Long.getLong("timingwheel.seed", System.nanoTime());
		SplittableRandom random = new SplittableRandom(seed);
		Map<Integer, Expected> model = new HashMap<>();
		List<String> expected = new ArrayList<>();
		for (int i = 0; i < 20_000; i++) {
			int key = random.nextInt(4);
			TaskId id = VirtualTasks.id(key);
			Duration delay = Duration.ofMillis(1 + random.nextInt(20));
			Expected pending = model.get(key);
			switch (random.nextInt(8)) {
				case 0 -> assertThat(this.tasks.template.cancel(id)).isEqualTo(model.remove(key) != null);
				case 1 -> {
					assertThat(this.tasks.template.reschedule(id, delay)).isEqualTo(pending != null);
					model.computeIfPresent(key,
							(k, task) -> new Expected(now() + delay.toNanos(), task.text, task.first));
				}
				case 2, 3 -> {
					this.tasks.advance(Duration.ofMillis(1));
					model.values().removeIf((task) -> task.due <= now() && expected.add(task.text));
				}
				default -> {
					String text = "seed " + seed + ", call " + i;
					IfPending ifPending = List
						.of(IfPending.REPLACE, IfPending.REPLACE, IfPending.UPDATE, IfPending.KEEP)
						.get(random.nextInt(4));
					long due = now() + delay.toNanos();
					Long first = (pending != null) ? pending.first : null;
					TaskSpec<?> spec = this.tasks.template.task(() -> this.ran.add(text)).id(id).ifPending(ifPending);
					if (ifPending == IfPending.REPLACE && random.nextInt(4) != 0) {
						Duration maxWait = Duration.ofMillis(random.nextInt(30));
						spec.maxWait(maxWait);
						first = (first != null) ? first : Long.valueOf(now());
						due = Math.min(due, first + maxWait.toNanos());
					}
					if (pending != null && ifPending != IfPending.REPLACE) {
						due = pending.due;
					}
					spec.after(delay);
					model.put(key, new Expected(due,
							(pending != null && ifPending == IfPending.KEEP) ? pending.text : text, first));
				}
			}
		}
		assertThat(this.ran).hasSizeGreaterThan(100).containsExactlyInAnyOrderElementsOf(expected);
		assertThat(this.tasks.registry.pendingCount()).isEqualTo(model.size());
	}

	private record Expected(long due, String text, @Nullable Long first) {

	}

}
