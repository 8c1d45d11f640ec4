package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

@SpringBootTest(properties = { "timingwheel.tasks.sent.rate=1/m", "timingwheel.tasks.flaky.max-attempts=3",
		"timingwheel.tasks.stopped.paused=true" })
@AutoConfigureVirtualTime
class PolicyTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations operations;

	@Autowired
	private DelayedTaskRegistry registry;

	@Autowired
	private Single single;

	private final List<Instant> runs = new ArrayList<>();

	/**
	 * The repetition before has used up the starts of its last minute.
	 */
	@RepeatedTest(2)
	void aRateSpreadsTheStartsOverVirtualTime() {
		Instant start = this.time.now();
		for (int i = 0; i < 3; i++) {
			this.operations.task(() -> this.runs.add(this.time.now())).name("sent").after(Duration.ofSeconds(1));
		}
		this.time.runAll();
		assertThat(this.runs).hasSize(3).first().isEqualTo(start.plusSeconds(1));
		assertThat(Duration.between(this.runs.get(0), this.runs.get(2))).isBetween(Duration.ofMinutes(2),
				Duration.ofSeconds(121));
	}

	/**
	 * When the rate allows the second start, two tasks have expired.
	 */
	@Test
	void aTaskThatHasExpiredWhileItWaitedDoesNotCountForTheRate() {
		Instant start = this.time.now();
		for (int i = 0; i < 3; i++) {
			this.single.expire(this.runs, this.time);
		}
		this.time.advance(Duration.ofSeconds(50));
		this.single.expire(this.runs, this.time);
		this.time.advance(Duration.ofSeconds(20));
		assertThat(this.runs).hasSize(2).first().isEqualTo(start.plusSeconds(1));
		assertThat(this.runs.get(1)).isBetween(start.plusSeconds(61), start.plusSeconds(62));
		assertThat(this.time).hasPendingCount("expiring", 0);
	}

	@Test
	void attemptsFollowABackoffThatDoesNotVary() {
		Instant start = this.time.now();
		this.time.onFailure(VirtualTime.OnFailure.COLLECT);
		DelayedTask<?> task = this.operations.task(() -> {
			this.runs.add(this.time.now());
			if (this.runs.size() < 3) {
				throw new IllegalStateException("attempt " + this.runs.size());
			}
		}).name("flaky").after(Duration.ofSeconds(1));
		this.time.runAll();
		assertThat(this.runs).containsExactly(start.plusSeconds(1), start.plusSeconds(2), start.plusSeconds(4));
		assertThat(task.completion()).isCompleted();
		assertThat(this.time.failures()).extracting(Throwable::getMessage).containsExactly("attempt 1", "attempt 2");
	}

	@Test
	void anAttemptThatFailsIsThrown() {
		this.operations.task(() -> {
			throw new IllegalStateException("first attempt");
		}).name("flaky").after(Duration.ofSeconds(1));
		assertThatIllegalStateException().isThrownBy(() -> this.time.advance(Duration.ofSeconds(1)))
			.withMessage("first attempt");
		assertThat(this.time).hasPending("flaky").dueIn(Duration.ofSeconds(1));
	}

	/**
	 * The repetition before has left a future that is not done.
	 */
	@RepeatedTest(2)
	void aBodyWhoseFutureIsNotDoneHoldsItsPlace() {
		List<String> begun = new ArrayList<>();
		CompletableFuture<Void> first = new CompletableFuture<>();
		this.single.run(begun, "first", first);
		this.single.run(begun, "second", CompletableFuture.completedFuture(null));
		this.time.advance(Duration.ofMinutes(1));
		assertThat(begun).containsExactly("first");
		assertThat(this.time).hasPendingCount("single", 1);
		first.complete(null);
		this.time.advance(Duration.ZERO);
		assertThat(begun).containsExactly("first", "second");
		this.single.run(begun, "last", new CompletableFuture<>());
		this.time.advance(Duration.ofMinutes(1));
		assertThat(begun).containsExactly("first", "second", "last");
	}

	@Test
	void aDebounceCannotStarve() {
		Instant start = this.time.now();
		for (int i = 0; i < 12; i++) {
			this.single.index(this.runs, this.time);
			this.time.advance(Duration.ofSeconds(5));
		}
		assertThat(this.runs).containsExactly(start.plusSeconds(30), start.plusSeconds(60));
	}

	@Test
	void anUpdateKeepsTheFirstDeadline() {
		Instant start = this.time.now();
		this.single.update(this.runs, start);
		this.time.advance(Duration.ofSeconds(5));
		this.single.update(this.runs, start.plusSeconds(1));
		assertThat(this.time).hasPendingCount("update", 1).hasPending("update", "all").dueIn(Duration.ofSeconds(5));
		this.time.advance(Duration.ofSeconds(5));
		assertThat(this.runs).containsExactly(start.plusSeconds(1));
	}

	@RepeatedTest(2)
	void aPauseEndsWithTheMethod() {
		this.operations.task(() -> this.runs.add(this.time.now())).name("free").after(Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.runs).hasSize(1);
		this.registry.setPaused("free", true);
		this.operations.task(() -> this.runs.add(this.time.now())).name("free").after(Duration.ofSeconds(1));
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.runs).hasSize(1);
	}

	@Test
	void runAllLeavesThePausedTasksAloneEvenBesideOneThatRepeats() {
		this.operations.task(() -> this.runs.add(this.time.now())).name("stopped").after(Duration.ofSeconds(1));
		DelayedTask<?> repeating = this.operations.task(() -> {
		}).name("repeating").every(Duration.ofHours(1));
		this.time.runAll();
		this.time.advance(Duration.ofMinutes(1));
		assertThat(this.runs).isEmpty();
		assertThat(this.time).hasPendingCount("stopped", 1);
		repeating.cancel(false);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@Import(Single.class)
	static class Application {

	}

	static class Single {

		@Delayed(delay = "1s", name = "single", policy = @TaskPolicy(maxConcurrent = 1))
		public CompletableFuture<Void> run(List<String> begun, String name, CompletableFuture<Void> end) {
			begun.add(name);
			return end;
		}

		@Delayed(delay = "1s", name = "expiring", expireAfter = "30s", policy = @TaskPolicy(rate = "1/m"))
		public void expire(List<Instant> runs, VirtualTime time) {
			runs.add(time.now());
		}

		@Delayed(delay = "10s", name = "index", key = "'all'", maxWait = "30s")
		public void index(List<Instant> runs, VirtualTime time) {
			runs.add(time.now());
		}

		@Delayed(delay = "10s", name = "update", key = "'all'", ifPending = IfPending.UPDATE)
		public void update(List<Instant> runs, Instant argument) {
			runs.add(argument);
		}

	}

}
