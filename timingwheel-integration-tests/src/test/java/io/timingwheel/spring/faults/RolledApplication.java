package io.timingwheel.spring.faults;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.LongStream;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Recurring;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTaskContext;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/**
 * An application that different builds of the library run. It uses only what the library
 * offers to every application. Like {@link NodeApplication}, it reads commands.
 */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ Executions.class, RolledApplication.Tasks.class })
class RolledApplication implements Function<String[], String> {

	static final Duration PERIOD = Duration.ofMillis(500);

	static final int MAX_CONCURRENT = 2;

	private static final TaskId SCHEDULE = TaskId.of("again", "schedule");

	/** Of the first task of one phase beyond that of the phase before. */
	private static final long NUMBERS = 1_000;

	/** The tasks of one phase, which are 12 ms apart. */
	private static final int PER_PHASE = 400;

	/** Of the declared schedule. */
	static final long TICK = 9 * NUMBERS + PER_PHASE;

	private final DelayedTaskTemplate template;

	RolledApplication(DelayedTaskTemplate template) {
		this.template = template;
	}

	public static void main(String[] args) {
		NodeApplication.serve(RolledApplication.class, args);
	}

	@Override
	public String apply(String[] words) {
		long phase = Long.parseLong(words[1]);
		return NodeApplication.done(() -> {
			switch (words[0]) {
				case "store" -> store(phase);
				case "change" -> change(phase);
				case "end" -> this.template.cancel(SCHEDULE);
			}
		});
	}

	private void store(long phase) {
		List<DurableCall> together = new ArrayList<>();
		numbers(phase).forEach((number) -> {
			Duration delay = Duration.ofMillis(number % NUMBERS * 12);
			if (Kind.of(number) == Kind.REPLACED) {
				this.template.enqueue(Kind.id(number), Duration.ofHours(1), Order.of(-1));
			}
			else if (number % 8 == 0) {
				together.add(DurableCall.of(Kind.id(number), delay, Order.of(number)));
			}
			else {
				this.template.enqueue(Kind.id(number), delay, Order.of(number));
			}
		});
		this.template.enqueueAll(together);
		this.template.recur(SCHEDULE, Schedule.every(PERIOD), Order.of(phase * NUMBERS + PER_PHASE));
	}

	/** Another node may have stored these tasks. */
	private void change(long phase) {
		numbers(phase).filter((number) -> Kind.of(number) == Kind.REPLACED).forEach((number) -> {
			this.template.find(Kind.id(number)).orElseThrow();
			this.template.enqueue(Kind.id(number), Duration.ofSeconds(2), Order.of(number));
		});
	}

	/** The numbers of the tasks of a phase. That of its schedule follows. */
	static LongStream numbers(long phase) {
		return LongStream.range(0, PER_PHASE).map((number) -> phase * NUMBERS + number);
	}

	static boolean isOfASchedule(long number) {
		return number % NUMBERS == PER_PHASE;
	}

	/** The names of the tasks. */
	enum Kind {

		ORDER, RETRIED, LIMITED, REPLACED;

		static Kind of(long number) {
			return values()[(int) (number % 4)];
		}

		private static TaskId id(long number) {
			return TaskId.of(of(number).name().toLowerCase(), number);
		}

	}

	record Order(long number, Instant at, Duration window, BigDecimal amount, List<String> lines,
			Map<String, List<Integer>> counts, @Nullable String note) {

		static Order of(long number) {
			return new Order(number, Instant.ofEpochSecond(1_700_000_000 + number, 123_456_789),
					Duration.ofMillis(number), new BigDecimal("12345678901234567890.10"),
					List.of("\u00e4 \ud834\udd1e", "\"\\\n"), Map.of("few", List.of(1, 2)),
					(number % 8 < 4) ? null : "");
		}

	}

	/**
	 * The durable methods. Each run is recorded at its start, and at its end if it does
	 * not fail.
	 */
	static class Tasks {

		private final Executions executions;

		Tasks(Executions executions) {
			this.executions = executions;
		}

		@Delayed(delay = "0s", name = "order", durable = true)
		void order(Order order) throws InterruptedException {
			// Some run while their node ends.
			run(order, (order.number() % 40 == 0) ? 2000 : 10);
		}

		@Delayed(delay = "0s", name = "retried", durable = true,
				policy = @TaskPolicy(maxAttempts = 2, backoff = @Backoff(initial = "3s")))
		void retried(Order order) throws InterruptedException {
			run(order, 0);
		}

		@Delayed(delay = "0s", name = "limited", durable = true, policy = @TaskPolicy(maxConcurrent = MAX_CONCURRENT))
		void limited(Order order) throws InterruptedException {
			run(order, 20);
		}

		@Delayed(delay = "0s", name = "replaced", aliases = "again", durable = true)
		void replaced(Order order) throws InterruptedException {
			run(order, 0);
		}

		@Recurring(every = "500ms", name = "tick", durable = true)
		void tick() throws InterruptedException {
			run(Order.of(TICK), 0);
		}

		private void run(Order order, long millis) throws InterruptedException {
			long execution = this.executions.begin(order.number());
			boolean fails = Kind.of(order.number()) == Kind.RETRIED
					&& DelayedTaskContext.current().orElseThrow().attempt() == 1;
			if (fails || !order.equals(Order.of(order.number()))) {
				throw new IllegalStateException("On purpose, or not as stored: " + order);
			}
			Thread.sleep(millis);
			this.executions.end(execution);
		}

	}

}
