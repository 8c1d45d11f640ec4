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
import org.jspecify.annotations.Nullable;

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
public final class JdbcDelayedTaskStore extends OperatorCalls {

	private final NewTasks newTasks;

	private final PendingTasks pending;

	private final Claiming claiming;

	/**
	 * @param applicationDataSource has the application's transactions
	 * @param storeDataSource leads to the same database; may be the same object
	 * @param tableName such as {@code timingwheel_task} or {@code schema.table}
	 * @param dialect the dialect of a database that this library does not know,
	 * {@code null} for the others
	 * @throws IllegalArgumentException if the name is too long, or has other characters
	 * than letters, digits and underscores
	 */
	public JdbcDelayedTaskStore(DataSource applicationDataSource, DataSource storeDataSource, String tableName,
			@Nullable Dialect dialect) {
		super(new Database(applicationDataSource, storeDataSource, tableName, dialect));
		this.newTasks = new NewTasks(this.database);
		this.pending = new PendingTasks(this.database);
		this.claiming = new Claiming(this.database);
	}

	@Override
	public List<Enqueued> enqueue(List<NewTask> tasks) {
		for (NewTask task : tasks) {
			TaskLimits.checkName(task.name());
			TaskLimits.checkKey(task.key());
		}
		return this.newTasks.enqueue(tasks);
	}

	@Override
	public Enqueued recur(NewSchedule schedule) {
		TaskLimits.checkName(schedule.name());
		TaskLimits.checkKey(schedule.key());
		return this.pending.recur(schedule);
	}

	@Override
	public boolean cancel(Target target) {
		return this.pending.cancel(target);
	}

	@Override
	public @Nullable Moved move(Target target, DueTime due) {
		return this.pending.move(target, due);
	}

	@Override
	public Optional<StoredTask> find(Target target) {
		return this.pending.find(target);
	}

	@Override
	public boolean joinsTransaction() {
		return this.database.hasTransaction();
	}

	@Override
	public boolean canJoinTransactions() {
		return true;
	}

	@Override
	public Claimed claim(ClaimRequest request) {
		return this.claiming.claim(request);
	}

	@Override
	public List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return this.leased.begin(tasks, lease);
	}

	@Override
	public List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return this.leased.renew(tasks, lease);
	}

	@Override
	public List<Reply> settle(List<Settlement> settlements) {
		return this.leased.settle(settlements);
	}

	@Override
	public boolean settleInTransaction(Settlement settlement) {
		return this.leased.settleInTransaction(settlement);
	}

	@Override
	public long now() {
		return this.database.node().single(Session::now);
	}

	@Override
	public void check(Collection<String> names) {
		this.database.schema().check();
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
				JdbcDelayedTaskStore.this.database.setClock(millis);
			}

			@Override
			public void deleteAll() {
				JdbcDelayedTaskStore.this.database.node().transaction((session) -> {
					// The table of MySQL has a row that is no task.
					session.update("delete from {task} where status in ({pending}, {running}, {dead})");
					session.update("delete from {node}");
					// A row that is missing was lost, and its name would be paused again.
					return session.update("update {name} set paused = 0, next_start = 0, cancelled = 0");
				});
			}

		};
	}

}
