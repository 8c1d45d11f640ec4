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

	/** How many tasks with this name one command stores or changes. */
	static final int ORDERS = 200;

	/** How many tasks with each of the other names. */
	static final int OTHERS = 20;

	static final Duration PERIOD = Duration.ofMillis(500);

	static final int MAX_CONCURRENT = 2;

	/** The delay of tasks that are changed before they are due. */
	private static final Duration FAR = Duration.ofHours(1);

	/** The argument of a task that is replaced. */
	private static final long FORMER = -1;

	private static final TaskId AGAIN = TaskId.of("again", "key");

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
				case "store" -> store(phase, Duration.ofMillis(Long.parseLong(words[2])));
				case "change" -> change(phase);
				case "end" -> this.template.cancel(AGAIN);
			}
		});
	}

	private void store(long phase, Duration spread) {
		List<DurableCall> together = new ArrayList<>();
		Kind.ORDER.numbers(phase).forEach((number) -> {
			TaskId id = Kind.ORDER.id(number);
			Duration delay = Kind.ORDER.delay(number, spread);
			Object[] arguments = { Order.of(number), Map.of("same", List.of(Order.of(number))) };
			if (number % 2 == 0) {
				together.add(DurableCall.of(id, delay, arguments));
			}
			else {
				this.template.enqueue(id, delay, arguments);
			}
		});
		this.template.enqueueAll(together);
		for (Kind kind : List.of(Kind.RETRIED, Kind.LIMITED)) {
			kind.numbers(phase)
				.forEach((number) -> this.template.enqueue(kind.id(number), kind.delay(number, spread), number));
		}
		Kind.REPLACED.numbers(phase).forEach((number) -> this.template.enqueue(Kind.REPLACED.id(number), FAR, FORMER));
		this.template.recur(AGAIN, Schedule.every(PERIOD), Kind.AGAIN.numbers(phase).findFirst().orElseThrow());
	}

	/** Another node may have stored these tasks. */
	private void change(long phase) {
		Kind.REPLACED.numbers(phase).forEach((number) -> {
			this.template.find(Kind.REPLACED.id(number)).orElseThrow();
			this.template.enqueue(Kind.REPLACED.id(number), Duration.ofSeconds(2), number);
		});
	}

	enum Kind {

		ORDER, RETRIED, LIMITED, REPLACED, AGAIN, TICK;

		private static final long NUMBERS = 1_000_000;

		private static final long PER_PHASE = 1000;

		static Kind of(long number) {
			return values()[(int) (number / NUMBERS)];
		}

		/**
		 * The numbers of the tasks that one command stores.
		 */
		LongStream numbers(long phase) {
			long first = ordinal() * NUMBERS + phase * PER_PHASE;
			return LongStream.range(first, first + ((this == ORDER) ? ORDERS : OTHERS));
		}

		private TaskId id(long number) {
			return TaskId.of(name().toLowerCase(), number);
		}

		private Duration delay(long number, Duration spread) {
			return spread.multipliedBy(number % PER_PHASE).dividedBy((this == ORDER) ? ORDERS : OTHERS);
		}

	}

	record Order(long number, Kind kind, Instant at, Duration window, BigDecimal amount, List<String> lines,
			Map<String, List<Integer>> counts, @Nullable String note) {

		static Order of(long number) {
			return new Order(number, Kind.of(number), Instant.ofEpochSecond(1_700_000_000 + number, 123_456_789),
					Duration.ofMillis(number), new BigDecimal("12345678901234567890.10"),
					List.of("\u00e4 \ud834\udd1e", "\"\\\n"), Map.of("few", List.of(1, 2)),
					(number % 2 == 0) ? null : "");
		}

	}

	/**
	 * The durable methods. Each run is recorded at its start, and at its end if it does
	 * not fail.
	 */
	static class Tasks {

		private static final String NONE = "0s";

		private final Executions executions;

		Tasks(Executions executions) {
			this.executions = executions;
		}

		@Delayed(delay = NONE, name = "order", durable = true)
		void order(Order order, Map<String, List<Order>> orders) throws InterruptedException {
			long execution = this.executions.begin(order.number());
			if (!order.equals(Order.of(order.number())) || !orders.equals(Map.of("same", List.of(order)))) {
				throw new IllegalStateException("Not as stored: " + order + orders);
			}
			// Some run while their node ends.
			Thread.sleep((order.number() % 10 == 0) ? 2000 : 10);
			this.executions.end(execution);
		}

		@Delayed(delay = NONE, name = "retried", durable = true,
				policy = @TaskPolicy(maxAttempts = 2, backoff = @Backoff(initial = "3s")))
		void retried(long number) {
			long execution = this.executions.begin(number);
			if (DelayedTaskContext.current().orElseThrow().attempt() == 1) {
				throw new IllegalStateException("As the test wants it");
			}
			this.executions.end(execution);
		}

		@Delayed(delay = NONE, name = "limited", durable = true, policy = @TaskPolicy(maxConcurrent = MAX_CONCURRENT))
		void limited(long number) throws InterruptedException {
			long execution = this.executions.begin(number);
			Thread.sleep(100);
			this.executions.end(execution);
		}

		@Delayed(delay = NONE, name = "replaced", aliases = "again", durable = true)
		void other(long number) {
			this.executions.end(this.executions.begin(number));
		}

		@Recurring(every = "1s", name = "tick", durable = true)
		void tick() {
			this.executions.end(this.executions.begin(Kind.TICK.numbers(0).findFirst().orElseThrow()));
		}

	}

}
