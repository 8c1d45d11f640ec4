package io.timingwheel.spring.durable.jdbc;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.Claimed;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.Enqueued;
import io.timingwheel.spring.durable.store.Forecast;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.Moved;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.StoreTesting;
import io.timingwheel.spring.durable.store.StoredCounts;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.TaskLimits;
import io.timingwheel.spring.durable.store.TaskRef;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.CannotGetJdbcConnectionException;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 *
 * <p>
 * Applications store, cancel, move and find tasks through the application's data source,
 * in the transaction of the calling thread if there is one. Nodes and operators use the
 * store's data source, in short transactions of their own.
 *
 * <p>
 * The store connects to the database when it is first used, or checked. Thread-safe.
 *
 * @since 0.1
 */
public final class JdbcDelayedTaskStore implements DelayedTaskStore {

	private static final Log logger = LogFactory.getLog(JdbcDelayedTaskStore.class);

	private final DataSource applicationDataSource;

	private final DataSource storeDataSource;

	private final Schema.TableName table;

	private final @Nullable Dialect dialect;

	private final ApplicationTransaction transaction;

	private volatile @Nullable Parts parts;

	/**
	 * Creates a store.
	 * @param applicationDataSource the application's data source, on which the
	 * application has its transactions
	 * @param storeDataSource the store's data source, which leads to the same database;
	 * may be the same object
	 * @param tableName the table, such as {@code timingwheel_task} or
	 * {@code schema.table}
	 * @param dialect the dialect of a database that this library does not know,
	 * {@code null} for the others
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public JdbcDelayedTaskStore(DataSource applicationDataSource, DataSource storeDataSource, String tableName,
			@Nullable Dialect dialect) {
		this.applicationDataSource = applicationDataSource;
		this.storeDataSource = storeDataSource;
		this.table = new Schema.TableName(tableName);
		this.dialect = dialect;
		this.transaction = new ApplicationTransaction(applicationDataSource,
				(bound) -> parts().database().dialect().template(bound));
	}

	@Override
	public List<Enqueued> enqueue(List<NewTask> tasks) {
		for (NewTask task : tasks) {
			TaskLimits.checkName(task.name());
			TaskLimits.checkKey(task.key());
		}
		return parts().storing().enqueue(tasks);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		TaskLimits.checkName(schedule.name());
		TaskLimits.checkKey(schedule.key());
		return parts().pending().recur(schedule);
	}

	@Override
	public boolean cancel(Target target) {
		return parts().pending().cancel(target);
	}

	@Override
	public @Nullable Moved move(Target target, DueTime due) {
		return parts().pending().move(target, due);
	}

	@Override
	public Optional<StoredTask> find(Target target) {
		return parts().pending().find(target);
	}

	@Override
	public boolean joinsTransaction() {
		return this.transaction.current() != null;
	}

	@Override
	public boolean canJoinTransactions() {
		return true;
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return parts().claims().claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return parts().leased().begin(tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return parts().leased().renew(tasks, lease);
	}

	@Override
	public List<Reply> settle(List<Settlement> settlements) {
		return parts().leased().settle(settlements);
	}

	@Override
	public boolean settleInTransaction(Settlement settlement) {
		return parts().leased().settleInTransaction(settlement);
	}

	@Override
	public void heartbeat(NodeState state) {
		parts().reads().heartbeat(state);
	}

	@Override
	public ListQuery.Page list(ListQuery query) {
		return parts().reads().list(query);
	}

	@Override
	public List<Requeue> requeue(List<String> ids) {
		return parts().dead().requeue(ids);
	}

	@Override
	public int discard(List<String> ids) {
		return parts().dead().discard(ids);
	}

	@Override
	public int discardOlder(Duration age, int limit) {
		return parts().dead().discardOlder(age, limit);
	}

	@Override
	public Map<String, StoredCounts> counts(Collection<String> names) {
		return parts().reads().count(names);
	}

	@Override
	public Forecast forecast(Forecast.Query query) {
		return parts().reads().forecast(query);
	}

	@Override
	public void setPaused(String name, boolean paused) {
		parts().names().setPaused(name, paused);
	}

	@Override
	public List<NodeState.Reported> nodes() {
		return parts().reads().nodes();
	}

	@Override
	public long now() {
		return parts().database().node().single(Session::now);
	}

	@Override
	public void check(Collection<String> names) {
		Parts parts = parts();
		parts.schema().check();
		try {
			names.forEach(parts.database().dialect()::text);
		}
		catch (IllegalArgumentException ex) {
			throw new UnusableTaskStoreException(String.valueOf(ex.getMessage()),
					"give the task another name, or let the database have the encoding UTF8", ex);
		}
	}

	@Override
	public boolean isRefusal(Throwable error) {
		return Dialect.isRefusal(error);
	}

	@Override
	public StoreTesting testing() {
		return new StoreTesting() {

			@Override
			public void setClock(@Nullable LongSupplier millis) {
				connect(millis, true);
			}

			@Override
			public void deleteAll() {
				Database database = parts().database();
				database.node().transaction((session) -> {
					// The table of MySQL has a row that is no task.
					session.update("delete from {task} where status in ({pending}, {running}, {dead})");
					session.update("delete from {node}");
					// A row that is missing was lost, and its name would be paused again.
					return session.update("update {name} set paused = 0, next_start = 0, cancelled = 0");
				});
			}

		};
	}

	private Parts parts() {
		Parts result = this.parts;
		return (result != null) ? result : connect(null, false);
	}

	private synchronized Parts connect(@Nullable LongSupplier clock, boolean anew) {
		Parts connected = this.parts;
		if (connected != null && !anew) {
			return connected;
		}
		Database.Settings store = (connected != null) ? connected.store()
				: Database.Settings.read(this.storeDataSource, this.dialect);
		Database.Settings application = (connected != null) ? connected.application() : application(store);
		Statements statements = new Statements(this.table, store.dialect(), clock);
		Database database = new Database(statements, new Database.Access(application, statements),
				new Database.Access(store, statements), this.transaction);
		TaskNames names = new TaskNames(database);
		Settlements settlements = new Settlements(database);
		Parts result = new Parts(store, application, database, new Schema(store, this.table),
				new Storing(database, !isRouting()), new PendingTasks(database), names, new Claims(database, names),
				new LeasedTasks(database, settlements), new DeadTasks(database, settlements), new Reads(database));
		this.parts = result;
		return result;
	}

	private boolean isRouting() {
		return this.transaction.dataSource() instanceof AbstractRoutingDataSource;
	}

	/**
	 * The settings of the application's data source, which may give no connection yet.
	 * One that chooses the database by the caller may have a pool for each.
	 */
	private Database.Settings application(Database.Settings store) {
		if (isRouting()) {
			return store.unknown(this.applicationDataSource);
		}
		if (this.storeDataSource == this.applicationDataSource) {
			return store;
		}
		try {
			return Database.Settings.read(this.applicationDataSource, store.dialect());
		}
		catch (CannotGetJdbcConnectionException ex) {
			logger.info("The data source of the application gives no connection yet, so the JDBC store assumes nothing"
					+ " about the settings of its connections (" + ex.getMostSpecificCause() + ")");
			return store.unknown(this.applicationDataSource);
		}
	}

	private record Parts(Database.Settings store, Database.Settings application, Database database, Schema schema,
			Storing storing, PendingTasks pending, TaskNames names, Claims claims, LeasedTasks leased, DeadTasks dead,
			Reads reads) {

	}

}
