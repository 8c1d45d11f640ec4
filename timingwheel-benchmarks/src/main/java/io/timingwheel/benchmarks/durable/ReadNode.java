package io.timingwheel.benchmarks.durable;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.timingwheel.TimingWheel;
import io.timingwheel.spring.actuate.DelayedTasksEndpoint;
import io.timingwheel.spring.actuate.TimingWheelEndpoint;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.NameDescriptor;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.memory.DelayedTaskRegistry;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;

/** An application with many pending tasks, and its endpoints. */
final class ReadNode implements AutoCloseable {

	private static final String NAME = "close-order";

	static final StoredRows ROWS = new StoredRows(NAME, Duration.ofMinutes(10));

	private static final int BATCH = 500;

	private static final int CHAINS = 20_000;

	private static final Runnable NOTHING = () -> {
	};

	private final JsonMapper mapper = JsonMapper.builder()
		.changeDefaultPropertyInclusion((value) -> value.withValueInclusion(JsonInclude.Include.NON_NULL))
		.build();

	private final ConfigurableApplicationContext context;

	private final DelayedTaskOperations tasks;

	private final TimingWheelEndpoint wheel;

	private final DelayedTasksEndpoint endpoint;

	private volatile boolean closed;

	ReadNode(Map<String, Object> settings) {
		this.context = new SpringApplicationBuilder(settings.isEmpty() ? InMemory.class : Stored.class)
			.web(WebApplicationType.NONE)
			.properties(Map.of("spring.main.banner-mode", "off", "spring.main.log-startup-info", "false"))
			.properties(settings)
			.run();
		this.tasks = this.context.getBean(DelayedTaskOperations.class);
		this.wheel = new TimingWheelEndpoint(this.context.getBean(TimingWheel.class),
				this.context.getBean(DelayedTaskRegistry.class));
		this.endpoint = new DelayedTasksEndpoint(this.context.getBean(DelayedTaskRegistry.class),
				this.context.getBeanProvider(StoredTasks.class).getIfAvailable(), Show.ALWAYS, Set.of());
	}

	/** Schedules tasks in memory. */
	void schedule(int count) {
		IntStream.range(0, count).forEach((i) -> this.tasks.schedule(ROWS.id(i), ROWS.delay(i), NOTHING));
	}

	/** Stores tasks. */
	void enqueue(int count) {
		for (int from = 0; from < count; from += BATCH) {
			this.tasks.enqueueAll(IntStream.range(from, Math.min(count, from + BATCH))
				.mapToObj((i) -> DurableCall.of(ROWS.id(i), ROWS.delay(i), i))
				.toList());
		}
	}

	/** The reads by what they read. */
	Map<String, Supplier<?>> reads() {
		NameDescriptor first = name(null);
		String cursor = first.cursor();
		for (int i = 0; i < 3; i++) {
			cursor = name(cursor).cursor();
		}
		String later = Objects.requireNonNull(cursor);
		String id = first.next().get(0).id();
		Map<String, Supplier<?>> reads = new LinkedHashMap<>();
		reads.put("wheel", this.wheel::wheel);
		reads.put("figures", () -> this.endpoint.tasks(null, null, null));
		for (String ahead : List.of("PT1M", "PT1H", "P1D", "P7D")) {
			reads.put("forecast " + ahead, () -> this.endpoint.tasks(ahead, null, null));
		}
		reads.put("name", () -> name(null));
		reads.put("name, fourth page", () -> name(later));
		reads.put("dead by error", () -> this.endpoint.tasksOfName(SecurityContext.NONE, NAME, "true", null, null));
		reads.put("task by its key", () -> task("k1"));
		reads.put("task by its id", () -> task(id));
		reads.put("no such task", () -> task("absent"));
		return reads;
	}

	private NameDescriptor name(@Nullable String cursor) {
		return (NameDescriptor) Objects
			.requireNonNull(this.endpoint.tasksOfName(SecurityContext.NONE, NAME, null, null, cursor).getBody());
	}

	private WebEndpointResponse<?> task(String keyOrId) {
		return this.endpoint.task(SecurityContext.NONE, new String[] { NAME, keyOrId }, null, null, null);
	}

	byte[] json(Supplier<?> read) {
		Object result = read.get();
		return this.mapper
			.writeValueAsBytes((result instanceof WebEndpointResponse<?> response) ? response.getBody() : result);
	}

	/**
	 * Runs tasks that schedule themselves again, as fast as the machine can.
	 * @return counts the runs
	 */
	LongAdder runEndlessly() {
		LongAdder runs = new LongAdder();
		Runnable chain = new Runnable() {

			@Override
			public void run() {
				runs.increment();
				if (!ReadNode.this.closed) {
					ReadNode.this.tasks.schedule(Duration.ofMillis(10), this);
				}
			}

		};
		IntStream.range(0, CHAINS).forEach((i) -> this.tasks.schedule(Duration.ofMillis(i % 10), chain));
		return runs;
	}

	/**
	 * Makes one read after another, until the reader is stopped.
	 * @param first the number of the first read
	 */
	Reader startReader(Collection<Supplier<?>> reads, int first, int readsPerSecond) {
		return new Reader(this, List.copyOf(reads), first, readsPerSecond);
	}

	@Override
	public void close() {
		this.closed = true;
		this.context.close();
	}

	/** A thread that reads. */
	static final class Reader {

		private final Thread thread;

		private volatile long cpuNanos;

		Reader(ReadNode node, List<Supplier<?>> reads, int first, int readsPerSecond) {
			this.thread = new Thread(() -> run(node, reads, first, readsPerSecond));
			this.thread.start();
		}

		private void run(ReadNode node, List<Supplier<?>> reads, int first, int readsPerSecond) {
			try {
				for (int i = first;; i++) {
					node.json(reads.get(i % reads.size()));
					this.cpuNanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
					TimeUnit.MILLISECONDS.sleep(1_000 / readsPerSecond);
				}
			}
			catch (InterruptedException ex) {
				// Stopped.
			}
		}

		/**
		 * Ends the reads.
		 * @return the processor time that they have taken, in nanoseconds
		 */
		long stop() throws InterruptedException {
			this.thread.interrupt();
			this.thread.join();
			return this.cpuNanos;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
	static class InMemory {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Stored {

	}

}
