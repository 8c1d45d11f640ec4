package io.timingwheel.benchmarks.durable;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.Properties;

import com.zaxxer.hikari.HikariDataSource;
import org.quartz.Job;
import org.quartz.JobBuilder;
import org.quartz.JobDetail;
import org.quartz.JobExecutionContext;
import org.quartz.Scheduler;
import org.quartz.SchedulerException;
import org.quartz.SimpleScheduleBuilder;
import org.quartz.Trigger;
import org.quartz.TriggerBuilder;
import org.quartz.TriggerKey;
import org.quartz.impl.StdSchedulerFactory;
import org.quartz.utils.ConnectionProvider;
import org.quartz.utils.DBConnectionManager;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * Quartz with its store on a database, clustered. It acquires as many triggers at once as
 * it has threads.
 */
final class QuartzNode implements TaskNode {

	private static final int THREADS = 20;

	private final HikariDataSource dataSource = new HikariDataSource();

	private final JobDetail job = JobBuilder.newJob(NoJob.class).withIdentity("probe").storeDurably().build();

	private final Scheduler scheduler;

	QuartzNode(String url, Probe probe) {
		this.dataSource.setJdbcUrl(url);
		// A connection for each thread, and for those that store and acquire.
		this.dataSource.setMaximumPoolSize(THREADS + 10);
		createTables();
		DBConnectionManager.getInstance().addConnectionProvider("probe", new Connections());
		try {
			this.scheduler = new StdSchedulerFactory(settings()).getScheduler();
			this.scheduler.setJobFactory(
					(fired, scheduler) -> (context) -> probe.run(context.getScheduledFireTime().toInstant()));
			this.scheduler.addJob(this.job, true);
			this.scheduler.start();
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static Properties settings() {
		Properties settings = new Properties();
		settings.setProperty("org.quartz.scheduler.instanceName", "probe");
		settings.setProperty("org.quartz.scheduler.instanceId", "AUTO");
		settings.setProperty("org.quartz.scheduler.batchTriggerAcquisitionMaxCount", String.valueOf(THREADS));
		settings.setProperty("org.quartz.threadPool.class", "org.quartz.simpl.SimpleThreadPool");
		settings.setProperty("org.quartz.threadPool.threadCount", String.valueOf(THREADS));
		settings.setProperty("org.quartz.jobStore.class", "org.quartz.impl.jdbcjobstore.JobStoreTX");
		settings.setProperty("org.quartz.jobStore.driverDelegateClass",
				"org.quartz.impl.jdbcjobstore.PostgreSQLDelegate");
		settings.setProperty("org.quartz.jobStore.dataSource", "probe");
		settings.setProperty("org.quartz.jobStore.isClustered", "true");
		settings.setProperty("org.quartz.jobStore.acquireTriggersWithinLock", "true");
		return settings;
	}

	private void createTables() {
		Object table = new JdbcTemplate(this.dataSource).queryForObject("select to_regclass('qrtz_triggers')::text",
				String.class);
		if (table == null) {
			new ResourceDatabasePopulator(new ClassPathResource("org/quartz/impl/jdbcjobstore/tables_postgres.sql"))
				.execute(this.dataSource);
		}
	}

	@Override
	public void enqueue(Instant due) {
		schedule(trigger(due).build());
	}

	/** Stores the tasks one by one. Quartz stores single tasks only to warm up. */
	@Override
	public void enqueueBatch(int count, Instant due) {
		for (int i = 0; i < count; i++) {
			enqueue(due);
		}
	}

	@Override
	public void recur(int number, Duration period) {
		schedule(trigger(Instant.now().plus(period)).withIdentity(key(number))
			.withSchedule(SimpleScheduleBuilder.simpleSchedule()
				.withIntervalInMilliseconds(period.toMillis())
				.repeatForever())
			.build());
	}

	@Override
	public void cancel(int number) {
		try {
			this.scheduler.unscheduleJob(key(number));
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static TriggerKey key(int number) {
		return new TriggerKey("schedule " + number);
	}

	private TriggerBuilder<Trigger> trigger(Instant start) {
		return TriggerBuilder.newTrigger().forJob(this.job).startAt(Date.from(start));
	}

	private void schedule(Trigger trigger) {
		try {
			this.scheduler.scheduleJob(trigger);
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void pause() {
		try {
			this.scheduler.standby();
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void resume() {
		try {
			this.scheduler.start();
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.scheduler.shutdown(true);
		}
		catch (SchedulerException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			this.dataSource.close();
		}
	}

	/** The class that is stored with the job. The job factory makes the job that runs. */
	static final class NoJob implements Job {

		@Override
		public void execute(JobExecutionContext context) {
			throw new UnsupportedOperationException();
		}

	}

	private final class Connections implements ConnectionProvider {

		@Override
		public Connection getConnection() throws SQLException {
			return QuartzNode.this.dataSource.getConnection();
		}

		@Override
		public void shutdown() {
		}

		@Override
		public void initialize() {
		}

	}

}
