package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.Burial;
import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DeadQuery;
import io.timingwheel.spring.durable.DeadTasks;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.DueTime;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.LeaseOffer;
import io.timingwheel.spring.durable.NewSchedule;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.NextRun;
import io.timingwheel.spring.durable.NodeState;
import io.timingwheel.spring.durable.PendingQuery;
import io.timingwheel.spring.durable.ReportedNode;
import io.timingwheel.spring.durable.Rescheduled;
import io.timingwheel.spring.durable.Retry;
import io.timingwheel.spring.durable.StoredCounts;
import io.timingwheel.spring.durable.StoredTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.Assert;

/**
 * Keeps durable tasks in a table of H2, PostgreSQL, MariaDB or MySQL.
 *
 * <p>
 * The store enqueues, cancels, reschedules and finds tasks through the application's data
 * source, and takes part in the transaction that the calling thread has on it. All other
 * operations run in short separate transactions, through the store's data source.
 *
 * <p>
 * Thread-safe. The store connects to the database when it first needs the database, not
 * when it is created. Failures of the database are
 * {@link org.springframework.dao.DataAccessException}s.
 *
 * @since 0.1
 */
public final class JdbcDelayedTaskStore implements DelayedTaskStore {

	private static final Log logger = LogFactory.getLog(JdbcDelayedTaskStore.class);

	private final DataSource applicationDataSource;

	private final DataSource storeDataSource;

	private final TableName table;

	private final ApplicationTransaction transaction;

	private final boolean routing;

	private volatile long offset;

	private volatile @Nullable LongSupplier clock;

	/** The settings of the two data sources, which do not change. */
	private volatile @Nullable Connections connections;

	private volatile @Nullable Operations operations;

	/**
	 * Creates a store.
	 * @param applicationDataSource the application's data source, on which the
	 * application has its transactions
	 * @param storeDataSource the store's data source, which leads to the same database;
	 * may be the same object
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public JdbcDelayedTaskStore(DataSource applicationDataSource, DataSource storeDataSource, String tableName) {
		this.applicationDataSource = applicationDataSource;
		this.storeDataSource = storeDataSource;
		this.table = new TableName(tableName);
		this.transaction = new ApplicationTransaction(applicationDataSource,
				(dataSource) -> operations().database().dialect().statements(dataSource));
		this.routing = this.transaction.dataSource() instanceof AbstractRoutingDataSource;
	}

	@Override
	public List<Enqueued> enqueueAll(List<NewTask> tasks) {
		return transitions().enqueue(tasks, this.transaction.current());
	}

	/**
	 * All callers outside of transactions share requests. A data source that chooses the
	 * database by the caller does not allow that.
	 */
	@Override
	public @Nullable Object sharedRequest(NewTask task) {
		boolean shares = !this.routing && !TransactionSynchronizationManager.isSynchronizationActive()
				&& transitions().canShare(task);
		return shares ? this : null;
	}

	@Override
	public @Nullable List<Enqueued> enqueueShared(List<NewTask> tasks) {
		return transitions().enqueueShared(tasks);
	}

	@Override
	public int sharingGroups() {
		return 1;
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		return operations().schedules().recur(schedule, this.transaction.current());
	}

	@Override
	public boolean restore(NewSchedule schedule) {
		return operations().schedules().restore(schedule);
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return request.startLimits().isEmpty() ? transitions().claim(request)
				: operations().limitedClaims().claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return tasks.isEmpty() ? List.of() : transitions().begin(tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return tasks.isEmpty() ? List.of() : transitions().renew(tasks, lease);
	}

	@Override
	public List<Reply> acknowledge(List<TaskRef> tasks) {
		return tasks.isEmpty() ? List.of() : transitions().acknowledge(tasks);
	}

	@Override
	public boolean acknowledgeInTransaction(TaskRef task) {
		return transitions().acknowledge(task, requiredTransaction());
	}

	@Override
	public List<Reply> repeat(List<NextRun> runs) {
		return runs.isEmpty() ? List.of() : operations().schedules().repeat(runs);
	}

	@Override
	public boolean repeatInTransaction(NextRun run) {
		return operations().schedules().repeat(run, requiredTransaction());
	}

	@Override
	public List<Reply> retry(List<Retry> retries) {
		return retries.isEmpty() ? List.of() : transitions().retry(retries);
	}

	@Override
	public List<Reply> release(List<TaskRef> tasks) {
		return tasks.isEmpty() ? List.of() : transitions().release(tasks, true);
	}

	@Override
	public List<Reply> releaseUnstarted(List<TaskRef> tasks) {
		return tasks.isEmpty() ? List.of() : transitions().release(tasks, false);
	}

	@Override
	public List<Reply> bury(List<Burial> burials) {
		return burials.isEmpty() ? List.of() : transitions().bury(burials);
	}

	@Override
	public void checkName(String name) {
		operations().database().dialect().text(name);
	}

	@Override
	public boolean isRefusal(Throwable error) {
		return StoreErrors.isRefusal(error);
	}

	private boolean canStore(String name, String key) {
		Dialect dialect = operations().database().dialect();
		return dialect.canStore(name) && dialect.canStore(key);
	}

	@Override
	public boolean cancel(TaskId taskId, Kind kind) {
		if (!canStore(taskId.name(), taskId.key())) {
			return false;
		}
		JdbcOperations joined = this.transaction.current();
		return (kind != Kind.SCHEDULE && transitions().cancel(taskId, joined))
				|| (kind != Kind.ONCE && operations().schedules().end(taskId, joined));
	}

	@Override
	public boolean cancel(String id) {
		JdbcOperations joined = this.transaction.current();
		return transitions().cancel(id, joined) || operations().schedules().end(id, joined);
	}

	@Override
	public @Nullable Rescheduled reschedule(TaskId taskId, Kind kind, DueTime due, @Nullable LeaseOffer lease) {
		if (!canStore(taskId.name(), taskId.key())) {
			return null;
		}
		JdbcOperations joined = this.transaction.current();
		Rescheduled moved = (kind != Kind.SCHEDULE) ? transitions().reschedule(taskId, due, lease, joined) : null;
		String recurring = (moved == null && kind != Kind.ONCE) ? operations().schedules().find(taskId, joined) : null;
		return (recurring != null) ? transitions().reschedule(recurring, due, lease, joined) : moved;
	}

	@Override
	public @Nullable Rescheduled reschedule(String id, DueTime due, @Nullable LeaseOffer lease) {
		return transitions().reschedule(id, due, lease, this.transaction.current());
	}

	@Override
	public List<Requeue> requeueAll(List<String> ids) {
		return ids.isEmpty() ? List.of() : operations().dead().requeue(ids);
	}

	@Override
	public int discardAll(List<String> ids) {
		return operations().dead().discard(ids);
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		return operations().dead().discardOlder(age, limit);
	}

	@Override
	public Optional<StoredTask> find(TaskId taskId, Kind kind) {
		return !canStore(taskId.name(), taskId.key()) ? Optional.empty()
				: operations().queries().find(taskId, kind, this.transaction.current());
	}

	@Override
	public Optional<StoredTask> find(String id) {
		return operations().queries().find(id, this.transaction.current());
	}

	@Override
	public List<StoredTask> pending(PendingQuery query) {
		return canStore(query.name(), "") ? operations().queries().pending(query) : List.of();
	}

	@Override
	public List<StoredTask> dead(String name, int limit) {
		return canStore(name, "") ? operations().queries().dead(name, limit) : List.of();
	}

	@Override
	public DeadTasks dead(DeadQuery query) {
		return canStore(query.name(), "") ? operations().dead().read(query) : new DeadTasks(List.of(), false);
	}

	@Override
	public Map<String, StoredCounts> counts() {
		return operations().counts().read();
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return operations().counts().read(Set.copyOf(names));
	}

	@Override
	public void setPaused(String name, boolean paused) {
		operations().limits().setPaused(name, paused);
	}

	@Override
	public Set<String> pausedNames() {
		return operations().limits().pausedNames();
	}

	@Override
	public void report(NodeState state) {
		operations().nodes().report(state);
	}

	@Override
	public void forget(String nodeId) {
		operations().nodes().forget(nodeId);
	}

	@Override
	public List<ReportedNode> nodes() {
		return operations().nodes().read();
	}

	@Override
	public Forecast forecast(ForecastQuery query) {
		return operations().forecasts().read(query);
	}

	/**
	 * Also reads the settings of the connections. The first operation would otherwise
	 * need a second connection to read them, while the transaction of its caller holds
	 * one.
	 */
	@Override
	public void check() {
		JdbcStoreSchema.of(this.storeDataSource, this.table.qualified()).check();
		operations();
	}

	@Override
	public boolean canJoinTransactions() {
		return true;
	}

	@Override
	public boolean joinsTransaction() {
		return this.transaction.current() != null;
	}

	@Override
	public long now() {
		Database database = operations().database();
		return database.store().single(database::now);
	}

	@Override
	public void setClockOffset(Duration offset) {
		this.offset = offset.toMillis();
	}

	/**
	 * Replaces the database's clock. While it is replaced, the operations of the nodes
	 * join a transaction that the calling thread has on the application's data source: a
	 * test that is rolled back at its end then sees its own tasks run.
	 */
	@Override
	public void setClock(@Nullable LongSupplier millis) {
		this.clock = millis;
		this.operations = null;
	}

	@Override
	public void deleteAll() {
		transitions().deleteAll();
		operations().limits().reset();
	}

	private JdbcOperations requiredTransaction() {
		JdbcOperations joined = this.transaction.current();
		Assert.state(joined != null, "The thread has no transaction on the DataSource of the application");
		return joined;
	}

	private Transitions transitions() {
		return operations().transitions();
	}

	private Operations operations() {
		Operations result = this.operations;
		if (result == null) {
			Database database = connect();
			LimitRows limits = new LimitRows(database);
			Transitions transitions = database.dialect().transitions(database);
			result = new Operations(database, transitions, new TaskQueries(database), new RowCounts(database),
					new DeadRows(database), new DueForecasts(database), limits,
					new JdbcLimitedClaims(database, limits, transitions),
					new ScheduleRows(database, transitions, limits), new NodeRows(database));
			this.operations = result;
		}
		return result;
	}

	private Database connect() {
		Connections connections = connections();
		StoreTime time = new StoreTime(() -> this.offset, this.clock);
		Dialect dialect = connections.store().dialect();
		ShortTransactions transactions = connections.store().transactions(dialect::statements);
		return new Database(this.table, dialect, connections.application().transactions(dialect::statements),
				time.isGiven() ? transactions.joining(this.transaction) : transactions, time);
	}

	private Connections connections() {
		Connections result = this.connections;
		if (result == null) {
			ConnectionSettings store = ConnectionSettings.read(this.storeDataSource);
			result = new Connections(application(store), store);
			this.connections = result;
		}
		return result;
	}

	/**
	 * The settings of the application's data source. A data source that chooses the
	 * database by the caller may have a pool with other settings for each database. If
	 * the store has a data source of its own, the one of the application may give no
	 * connection yet.
	 */
	private ConnectionSettings application(ConnectionSettings store) {
		if (this.routing) {
			return store.unknown(this.applicationDataSource);
		}
		if (this.storeDataSource == this.applicationDataSource) {
			return store;
		}
		try {
			return ConnectionSettings.read(this.applicationDataSource);
		}
		catch (CannotGetJdbcConnectionException ex) {
			logger.info("The data source of the application gives no connection yet, so the JDBC store assumes nothing"
					+ " about the settings of its connections (" + ex.getMostSpecificCause() + ")");
			return store.unknown(this.applicationDataSource);
		}
	}

	/**
	 * The settings of both data sources.
	 */
	private record Connections(ConnectionSettings application, ConnectionSettings store) {

	}

	private record Operations(Database database, Transitions transitions, TaskQueries queries, RowCounts counts,
			DeadRows dead, DueForecasts forecasts, LimitRows limits, JdbcLimitedClaims limitedClaims,
			ScheduleRows schedules, NodeRows nodes) {

	}

}
