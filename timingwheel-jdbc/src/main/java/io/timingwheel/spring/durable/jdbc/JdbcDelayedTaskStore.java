package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/**
 * Keeps durable tasks in a table of H2, PostgreSQL, MariaDB or MySQL.
 *
 * <p>
 * Tasks are stored, cancelled and moved through the application's data source, and take
 * part in the transaction that the calling thread has on it. Everything else happens in
 * short transactions of its own, on connections of another data source if there is one.
 *
 * <p>
 * Thread-safe. The database is looked at when it is first needed.
 */
public final class JdbcDelayedTaskStore implements DelayedTaskStore {

	private final DataSource applicationDataSource;

	private final DataSource storeDataSource;

	private final TableName table;

	private final ApplicationTransaction transaction;

	private volatile long offset;

	private volatile @Nullable Operations operations;

	/**
	 * Creates a store.
	 * @param applicationDataSource leads to the database, and has the application's
	 * transactions
	 * @param storeDataSource leads to the same database; may be the same object
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @throws IllegalArgumentException if this is no plain name of a table
	 */
	public JdbcDelayedTaskStore(DataSource applicationDataSource, DataSource storeDataSource, String tableName) {
		this.applicationDataSource = applicationDataSource;
		this.storeDataSource = storeDataSource;
		this.table = new TableName(tableName);
		this.transaction = new ApplicationTransaction(applicationDataSource);
	}

	@Override
	public void check() {
		new StoreCheck(ConnectionSettings.read(this.storeDataSource), this.table).check();
	}

	@Override
	public boolean joinsTransaction() {
		return this.transaction.current() != null;
	}

	@Override
	public List<Enqueued> enqueueAll(List<NewTask> tasks) {
		if (tasks.size() == 1) {
			return List.of(operations().enqueueing().enqueue(tasks.get(0), this.transaction.current()));
		}
		return operations().bulkEnqueueing().enqueueAll(tasks, this.transaction.current());
	}

	@Override
	public boolean cancel(TaskId taskId) {
		return operations().pendingTasks().cancel(taskId, this.transaction.current());
	}

	@Override
	public boolean cancel(String id) {
		return operations().pendingTasks().cancel(id, this.transaction.current());
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, DueTime due, @Nullable LeaseOffer lease) {
		return operations().pendingTasks().reschedule(taskId, due, lease, this.transaction.current());
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		return operations().pendingTasks().reschedule(id, due, lease, this.transaction.current());
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return operations().claims().claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return tasks.isEmpty() ? List.of() : operations().leases().begin(tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return tasks.isEmpty() ? List.of() : operations().leases().renew(tasks, lease);
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return tasks.isEmpty() ? List.of() : operations().leases().acknowledge(tasks);
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		return operations().returns().retry(retries);
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return operations().returns().release(tasks);
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		return operations().returns().bury(burials);
	}

	@Override
	public Optional<StoredTask> find(TaskId taskId) {
		return operations().readings().find(taskId, this.transaction.current());
	}

	@Override
	public Optional<StoredTask> find(String id) {
		return operations().readings().find(id, this.transaction.current());
	}

	@Override
	public List<StoredTask> pending(String name, int limit) {
		return operations().readings().pending(name, limit);
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		return operations().readings().dead(name, limit);
	}

	@Override
	public Map<String, StoredCounts> counts() {
		return operations().readings().counts();
	}

	@Override
	public Requeue requeue(String id) {
		return operations().deadTasks().requeue(id);
	}

	@Override
	public boolean discard(String id) {
		return operations().deadTasks().discard(id);
	}

	@Override
	public long discardAll(String name) {
		return operations().deadTasks().discardAll(name);
	}

	@Override
	public long now() {
		Database database = operations().database();
		return database.engine().single(database::now);
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.offset = offset.toMillis();
	}

	private Operations operations() {
		Operations result = this.operations;
		if (result == null) {
			result = new Operations(database());
			this.operations = result;
		}
		return result;
	}

	private Database database() {
		ConnectionSettings application = ConnectionSettings.read(this.applicationDataSource);
		ConnectionSettings engine = (this.storeDataSource != this.applicationDataSource)
				? ConnectionSettings.read(this.storeDataSource) : application;
		return new Database(this.table, engine.dialect(), application.transactions(), engine.transactions(),
				() -> this.offset);
	}

	private record Operations(Database database, Enqueueing enqueueing, BulkEnqueueing bulkEnqueueing,
			PendingTasks pendingTasks, Claims claims, Leases leases, Returns returns, Readings readings,
			DeadTasks deadTasks) {

		Operations(Database database) {
			this(database, database.dialect().enqueueing(database), database.dialect().bulkEnqueueing(database),
					new PendingTasks(database), database.dialect().claims(database),
					database.dialect().leases(database), new Returns(database), new Readings(database),
					new DeadTasks(database));
		}

	}

}
