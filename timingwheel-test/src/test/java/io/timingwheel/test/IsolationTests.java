package io.timingwheel.test;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.timingwheel.TimingWheel;
import io.timingwheel.spring.task.DelayedTaskOperations;
import org.junit.jupiter.api.RepeatedTest;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.scheduling.TaskScheduler;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.scheduling.support.PeriodicTrigger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/** Each method must pass after any other one, and a second time. */
@SpringBootTest(classes = IsolationTests.Schedules.class, properties = "timingwheel.task-scheduler.enabled=true")
@AutoConfigureVirtualTime
class IsolationTests {

	@Autowired
	private VirtualTime time;

	@Autowired
	private DelayedTaskOperations tasks;

	@Autowired
	private TaskScheduler scheduler;

	@Autowired
	private TimingWheel wheel;

	@Autowired
	private Schedules schedules;

	private static final Map<String, AtomicInteger> leftOver = new ConcurrentHashMap<>();

	@RepeatedTest(2)
	void eachMethodBeginsWithNothingPendingAtTheRealTime() {
		assertThat(this.time).hasNoPending("left-over");
		assertThat(this.time.now()).isCloseTo(Instant.now(), within(Duration.ofMinutes(10)));
		this.tasks.task(() -> {
		}).name("left-over").after(Duration.ofDays(1));
		this.time.advance(Duration.ofHours(12));
		this.time.failNext("left-over", new IllegalStateException());
		assertThat(this.time).hasPending("left-over").dueIn(Duration.ofHours(12));
	}

	@RepeatedTest(2)
	void schedulesAndTimersOfATestEndWithItsMethodAndThoseOfTheApplicationGoOn() {
		AtomicInteger own = new AtomicInteger();
		leftOver.forEach((name, runs) -> runs.set(0));
		this.schedules.runs().clear();
		this.time.advance(Duration.ofMinutes(10));
		assertThat(leftOver).allSatisfy((name, runs) -> assertThat(runs).hasValue(0));
		assertThat(this.schedules.runs()).containsEntry("cron", 10)
			.containsEntry("chained timer", 10)
			.containsEntry("heartbeat", 10);
		assertThat(this.schedules.runs().get("rate")).as("Spring counts the first delay from the time of the machine")
			.isBetween(9, 10);
		this.scheduler.schedule(count("later"), this.time.now().plusSeconds(60));
		this.scheduler.schedule(count("trigger"), new PeriodicTrigger(Duration.ofMinutes(1)));
		this.scheduler.scheduleAtFixedRate(count("rate"), Duration.ofMinutes(1));
		this.scheduler.scheduleWithFixedDelay(count("delay"), Duration.ofMinutes(1));
		this.wheel.schedule(count("timer"), Duration.ofMinutes(1));
		this.wheel.schedule(count("timer"), 1, TimeUnit.MINUTES);
		this.wheel.scheduleAt(count("timer at"), this.wheel.nanoTime() + 60_000_000_000L);
		ScheduledExecutorService service = this.wheel.asScheduledExecutorService();
		assertThat(service).isEqualTo(service).isNotEqualTo(this.wheel.asScheduledExecutorService());
		service.schedule(count("service"), 1, TimeUnit.MINUTES);
		for (int i = 0; i < 1000; i++) {
			this.wheel.schedule(own::incrementAndGet, Duration.ofSeconds(1));
		}
		this.time.advance(Duration.ofSeconds(30));
		assertThat(own).hasValue(1000);
	}

	private static Runnable count(String name) {
		AtomicInteger runs = leftOver.computeIfAbsent(name, (key) -> new AtomicInteger());
		return runs::incrementAndGet;
	}

	/** What the application itself repeats. */
	@EnableAutoConfiguration
	@EnableScheduling
	static class Schedules {

		private final Map<String, Integer> runs = new ConcurrentHashMap<>();

		private final TimingWheel wheel;

		private final Runnable chained = this::chained;

		Schedules(TimingWheel wheel, DelayedTaskOperations tasks) {
			this.wheel = wheel;
			this.wheel.schedule(this.chained, Duration.ofMinutes(1));
			tasks.task(() -> run("heartbeat")).name("heartbeat").every(Duration.ofMinutes(1));
		}

		Map<String, Integer> runs() {
			return this.runs;
		}

		private void chained() {
			run("chained timer");
			this.wheel.schedule(this.chained, Duration.ofMinutes(1));
		}

		@Scheduled(cron = "0 * * * * *")
		void cron() {
			run("cron");
		}

		@Scheduled(fixedRate = 1, timeUnit = TimeUnit.MINUTES, initialDelay = 1)
		void rate() {
			run("rate");
		}

		private void run(String name) {
			this.runs.merge(name, 1, Integer::sum);
		}

	}

}
