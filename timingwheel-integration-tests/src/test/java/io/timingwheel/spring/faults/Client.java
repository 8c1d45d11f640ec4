package io.timingwheel.spring.faults;

import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.TaskId;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * An application on the same store that has no handlers. It stores and cancels tasks, and
 * reads the table.
 */
final class Client implements AutoCloseable {

	private final ConfigurableApplicationContext context;

	private final DelayedTaskStore store;

	private final boolean relational;

	Client(List<String> properties) {
		this.context = new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
			.registerShutdownHook(false)
			.run(Stream.concat(Stream.of("timingwheel.store.node-id=client"), properties.stream())
				.map((property) -> "--" + property)
				.toArray(String[]::new));
		this.store = this.context.getBean(DelayedTaskStore.class);
		this.relational = properties.contains("timingwheel.store.type=jdbc");
	}

	DelayedTaskStore store() {
		return this.store;
	}

	DelayedTaskTemplate template() {
		return this.context.getBean(DelayedTaskTemplate.class);
	}

	boolean isRelational() {
		return this.relational;
	}

	JdbcTemplate jdbc() {
		return this.context.getBean(JdbcTemplate.class);
	}

	LettuceConnectionFactory redis() {
		return this.context.getBean(LettuceConnectionFactory.class);
	}

	/**
	 * Stores tasks with their numbers as keys.
	 * @param first the first number
	 * @param count how many
	 * @param due when the first one is due
	 * @param spread how long after that the last one is due
	 * @param millis how long they take
	 */
	void enqueue(long first, int count, Instant due, Duration spread, long millis) {
		template().enqueueAll(LongStream.range(0, count)
			.mapToObj((i) -> DurableCall.of(TaskId.of(Worker.NAME, first + i),
					due.plus(spread.multipliedBy(i).dividedBy(count)), first + i, millis))
			.toList());
	}

	Set<String> begunBy(NodeProcess node) {
		return new HashSet<>(jdbc().queryForList("select id from timingwheel_task where owner = ? and status = 1",
				String.class, node.id()));
	}

	int leasedBy(NodeProcess node) {
		Integer leased = jdbc().queryForObject("select count(*) from timingwheel_task where owner = ?", Integer.class,
				node.id());
		return (leased != null) ? leased : 0;
	}

	List<StoredTask> dead() {
		return this.store.list(new ListQuery(Worker.NAME, Order.DEAD_LATEST_FIRST, null, 1000)).tasks();
	}

	StoredCounts counts() {
		return this.store.counts(List.of()).getOrDefault(Worker.NAME, StoredCounts.NONE);
	}

	boolean isEmpty() {
		return this.store.counts(List.of()).isEmpty();
	}

	void clear() {
		this.store.testing().deleteAll();
	}

	@Override
	public void close() {
		this.context.close();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Application {

	}

}
