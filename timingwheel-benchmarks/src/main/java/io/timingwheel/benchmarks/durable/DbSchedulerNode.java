package io.timingwheel.benchmarks.durable;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.UUID;
import java.util.stream.Stream;

import com.github.kagkarlsson.scheduler.Scheduler;
import com.github.kagkarlsson.scheduler.task.TaskInstance;
import com.github.kagkarlsson.scheduler.task.helper.OneTimeTask;
import com.github.kagkarlsson.scheduler.task.helper.PlainScheduleAndData;
import com.github.kagkarlsson.scheduler.task.helper.RecurringTaskWithPersistentSchedule;
import com.github.kagkarlsson.scheduler.task.helper.Tasks;
import com.github.kagkarlsson.scheduler.task.schedule.FixedDelay;
import com.zaxxer.hikari.HikariDataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/** db-scheduler, with the strategy that its documentation calls the fastest. */
final class DbSchedulerNode implements TaskNode {

	private static final int THREADS = 20;

	/**
	 * When a thread has fewer tasks than this, the scheduler fetches more. This value was
	 * the best of those tried.
	 */
	private static final double LOWER_LIMIT = 1;

	/** The limit of a fetch, per thread. */
	private static final double UPPER_LIMIT = 8;

	private final HikariDataSource dataSource = new HikariDataSource();

	private final OneTimeTask<Instant> task;

	private final RecurringTaskWithPersistentSchedule<PlainScheduleAndData> recurring;

	private final Scheduler scheduler;

	DbSchedulerNode(String url, Duration pollingInterval, Probe probe) {
		this.dataSource.setJdbcUrl(url);
		// A connection for each thread, and for those that store and poll.
		this.dataSource.setMaximumPoolSize(THREADS + 10);
		createTable();
		this.task = Tasks.oneTime("probe", Instant.class).execute((instance, context) -> probe.run(instance.getData()));
		this.recurring = Tasks.recurringWithPersistentSchedule("recurring-probe", PlainScheduleAndData.class)
			.execute((instance, context) -> probe.run(context.getExecution().executionTime));
		this.scheduler = Scheduler.create(this.dataSource, this.task, this.recurring)
			.threads(THREADS)
			.pollUsingLockAndFetch(LOWER_LIMIT, UPPER_LIMIT)
			.pollingInterval(pollingInterval)
			.build();
		this.scheduler.start();
	}

	private void createTable() {
		JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);
		jdbc.execute("""
				create table if not exists scheduled_tasks (task_name text, task_instance text, task_data bytea,
				execution_time timestamp with time zone not null, picked boolean not null, picked_by text,
				last_success timestamp with time zone, last_failure timestamp with time zone, consecutive_failures int,
				last_heartbeat timestamp with time zone, version bigint not null, priority smallint,
				primary key (task_name, task_instance))""");
		jdbc.execute("create index if not exists execution_time_idx on scheduled_tasks (execution_time)");
		jdbc.execute("create index if not exists last_heartbeat_idx on scheduled_tasks (last_heartbeat)");
	}

	private TaskInstance<Instant> instance(Instant due) {
		return this.task.instance(UUID.randomUUID().toString(), due);
	}

	@Override
	public void enqueue(Instant due) {
		this.scheduler.schedule(instance(due), due);
	}

	@Override
	public void enqueueBatch(int count, Instant due) {
		this.scheduler.scheduleBatch(
				Stream.generate(() -> instance(due)).limit(count).<TaskInstance<?>>map((instance) -> instance), due);
	}

	@Override
	public void recur(int number, Duration period) {
		PlainScheduleAndData schedule = new PlainScheduleAndData(FixedDelay.of(period));
		this.scheduler.schedule(new TaskInstance<>(this.recurring.getName(), "schedule " + number, schedule),
				Instant.now().truncatedTo(ChronoUnit.MILLIS).plus(period));
	}

	@Override
	public void cancel(int number) {
		this.scheduler.cancel(this.recurring.instance("schedule " + number));
	}

	@Override
	public void pause() {
		this.scheduler.pause();
	}

	@Override
	public void resume() {
		this.scheduler.resume();
		this.scheduler.triggerCheckForDueExecutions();
	}

	@Override
	public void close() {
		this.scheduler.stop();
		this.dataSource.close();
	}

}
