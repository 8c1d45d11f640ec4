package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.IntStream;

import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.task.DelayedTaskOperations;
import io.timingwheel.spring.task.DurableCall;
import io.timingwheel.spring.task.Schedule;
import io.timingwheel.spring.task.TaskId;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;

/** A Spring Boot application as users set it up. */
final class TimingWheelNode implements TaskNode {

	/** Tasks that are not due during a measurement. */
	static final StoredRows PENDING = new StoredRows(ProbeApplication.NAME, Duration.ofDays(1));

	private final ConfigurableApplicationContext context;

	private final ProbeApplication.Tasks tasks;

	private final DurableNode durable;

	private final DelayedTaskOperations template;

	TimingWheelNode(Store store, String url, Map<String, Object> settings, Probe probe) {
		this.context = new SpringApplicationBuilder(ProbeApplication.class).web(WebApplicationType.NONE)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean(Probe.class, () -> probe))
			.properties(properties(store, url))
			.properties(settings)
			.run();
		this.tasks = this.context.getBean(ProbeApplication.Tasks.class);
		this.durable = this.context.getBean(DurableNode.class);
		this.template = this.context.getBean(DelayedTaskOperations.class);
	}

	static Map<String, Object> properties(Store store, String url) {
		Map<String, Object> properties = new HashMap<>(
				Map.of("spring.main.banner-mode", "off", "spring.main.log-startup-info", "false"));
		switch (store) {
			case POSTGRESQL -> properties.putAll(Map.of("timingwheel.store.type", "jdbc",
					"timingwheel.store.jdbc.initialize-schema", "always", "spring.datasource.url", url));
			case REDIS -> properties.putAll(Map.of("timingwheel.store.type", "redis", "spring.data.redis.url", url,
					"spring.autoconfigure.exclude", DataSourceAutoConfiguration.class.getName()));
		}
		return properties;
	}

	@Override
	public void enqueue(Instant due) {
		this.tasks.probe(due.toEpochMilli());
	}

	@Override
	public void enqueueBatch(int count, Instant due) {
		this.template
			.enqueueAll(Collections.nCopies(count, DurableCall.of(ProbeApplication.NAME, due, due.toEpochMilli())));
	}

	@Override
	public void recur(int number, Duration period) {
		this.template.recur(TaskId.of(ProbeApplication.RECURRING, number), Schedule.every(period));
	}

	@Override
	public void cancel(int number) {
		this.template.cancel(TaskId.of(ProbeApplication.RECURRING, number));
	}

	@Override
	public void enqueueLimited(int count) {
		this.template
			.enqueueAll(Collections.nCopies(count, DurableCall.of(ProbeApplication.LIMITED_NAME, Duration.ZERO)));
	}

	@Override
	public void enqueuePending(int from, int to) {
		this.template.enqueueAll(IntStream.range(from, to)
			.mapToObj((i) -> DurableCall.of(PENDING.id(i), PENDING.delay(i), 0L))
			.toList());
	}

	@Override
	public void pause() {
		this.durable.pause();
	}

	@Override
	public void resume() {
		this.durable.resume();
	}

	@Override
	public void close() {
		this.context.close();
	}

}
