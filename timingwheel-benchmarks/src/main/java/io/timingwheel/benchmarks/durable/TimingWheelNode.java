package io.timingwheel.benchmarks.durable;

import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.DurableTasks;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A Spring Boot application as users set it up.
 */
final class TimingWheelNode implements TaskNode {

	private final ConfigurableApplicationContext context;

	private final ProbeApplication.Tasks tasks;

	private final DurableTasks durable;

	private final TransactionOperations transactions;

	TimingWheelNode(Store store, String url, Map<String, Object> settings, Probe probe) {
		this.context = new SpringApplicationBuilder(ProbeApplication.class).web(WebApplicationType.NONE)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean(Probe.class, () -> probe))
			.properties(properties(store, url))
			.properties(settings)
			.run();
		this.tasks = this.context.getBean(ProbeApplication.Tasks.class);
		this.durable = this.context.getBean(DurableTasks.class);
		ObjectProvider<DataSource> dataSource = this.context.getBeanProvider(DataSource.class);
		this.transactions = dataSource.stream()
			.findFirst()
			.<TransactionOperations>map((source) -> new TransactionTemplate(new JdbcTransactionManager(source)))
			.orElse(TransactionOperations.withoutTransaction());
	}

	private static Map<String, Object> properties(Store store, String url) {
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
		this.tasks.probe(due);
	}

	@Override
	public void enqueueBatch(int count, Instant due) {
		Consumer<Object> batch = (status) -> {
			for (int i = 0; i < count; i++) {
				this.tasks.probe(due);
			}
		};
		this.transactions.executeWithoutResult(batch::accept);
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
