package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import io.timingwheel.spring.durable.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.Enqueued;
import io.timingwheel.spring.durable.LeasedTask;
import io.timingwheel.spring.durable.NewTask;
import io.timingwheel.spring.durable.TaskRef;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * The most frequent transitions in SQL that H2, MariaDB and MySQL understand. A
 * transition locks rows, checks them, and then changes them.
 */
final class PortableTransitions extends Transitions {

	/**
	 * By time within a name. H2 reads the first row of the index only if the order names
	 * all columns of the index. Otherwise H2 reads and sorts all rows.
	 */
	private static final String IN_INDEX_ORDER = "order by name, suspect, next_at";

	private final Database database;

	private final PortableDialect dialect;

	private final TableName table;

	private final String insert;

	private final String replace;

	/** The assignment of a lease that lasts from now. */
	private final String leaseFromNow;

	/**
	 * What the latest claim has seen if it found nothing to claim, and a test moves the
	 * time; {@code null} otherwise.
	 */
	private volatile @Nullable Outlook expected;

	PortableTransitions(Database database, PortableDialect dialect) {
		super(database);
		this.database = database;
		this.dialect = dialect;
		this.table = database.table();
		this.insert = NewRow.insert(this.table);
		this.replace = NewRow.replace(this.table);
		this.leaseFromNow = " next_at = least(" + dialect.nowExpression(database.time()) + " + ?, "
				+ DelayedTaskStore.MAX_TIME + ")";
	}

	@Override
	Map<String, Enqueued> storeBatch(JdbcOperations jdbc, List<NewTask> batch) {
		long now = this.database.now(jdbc);
		Map<TaskId, TaskRow> pending = lockPending(jdbc, batch);
		Map<String, Enqueued> stored = new HashMap<>();
		List<NewRow> unkeyed = new ArrayList<>();
		List<NewRow> keyed = new ArrayList<>();
		List<Object[]> replacements = new ArrayList<>();
		for (NewTask task : batch) {
			TaskRow earlier = (task.key() != null) ? pending.get(new TaskId(task.name(), task.key())) : null;
			NewRow row = NewRow.of(task, now, earlier);
			if (earlier == null) {
				((task.key() != null) ? keyed : unkeyed).add(row);
			}
			else if (task.replaces()) {
				replacements.add(row.replaceValues(earlier));
				stored.put(task.id(), row.replaced(earlier));
			}
			else {
				stored.put(task.id(), row.kept(earlier));
			}
		}
		update(jdbc, this.replace, replacements);
		insert(jdbc, unkeyed, "");
		unkeyed.forEach((row) -> stored.put(row.task().id(), row.inserted()));
		insertUnlessPending(jdbc, keyed).forEach((row) -> stored.put(row.task().id(), row.inserted()));
		return stored;
	}

	/**
	 * Locks the pending tasks that have the keys of new tasks. Looks up the keys without
	 * a lock, and then locks the rows by their ids. In MySQL, a lock by an absent key
	 * would stop other transactions from storing the neighbouring keys.
	 */
	private Map<TaskId, TaskRow> lockPending(JdbcOperations jdbc, List<NewTask> tasks) {
		Map<String, List<Object>> keys = new TreeMap<>();
		for (NewTask task : tasks) {
			if (task.key() != null) {
				keys.computeIfAbsent(task.name(), (name) -> new ArrayList<>()).add(this.dialect.text(task.key()));
			}
		}
		List<String> ids = new ArrayList<>();
		keys.forEach((name, values) -> {
			List<@Nullable Object> parameters = new ArrayList<>(List.of(this.dialect.text(name)));
			Database.addPadded(parameters, values);
			ids.addAll(jdbc.queryForList("select id from " + this.table + " where name = ? and pending_key"
					+ Database.isOneOf(values.size()), String.class, parameters.toArray()));
		});
		Map<TaskId, TaskRow> pending = new HashMap<>();
		if (!ids.isEmpty()) {
			List<@Nullable Object> parameters = new ArrayList<>();
			Database.addPadded(parameters, ids);
			jdbc.query("select " + TaskRow.COLUMNS + " from " + this.table + " where id" + Database.isOneOf(ids.size())
					+ " and status = " + TaskRow.PENDING + ((ids.size() > 1) ? " order by id" : "") + " for update",
					(rs) -> {
						TaskRow row = TaskRow.read(rs, this.dialect);
						pending.put(new TaskId(row.name(), Objects.requireNonNull(row.key())), row);
					}, parameters.toArray());
		}
		return pending;
	}

	/**
	 * Inserts rows whose keys were not pending a moment ago.
	 * @return the rows that were inserted
	 */
	private List<NewRow> insertUnlessPending(JdbcOperations jdbc, List<NewRow> rows) {
		if (rows.isEmpty()) {
			return rows;
		}
		String unlessTaken = this.dialect.unlessTaken();
		try {
			insert(jdbc, rows, unlessTaken);
			if (unlessTaken.isEmpty()) {
				return rows;
			}
		}
		catch (DuplicateKeyException ex) {
			// H2 has inserted the other rows of the batch.
		}
		// Neither H2 nor MySQL tells which rows the batch has inserted.
		List<@Nullable Object> ids = new ArrayList<>();
		Database.addPadded(ids, rows.stream().map((row) -> row.task().id()).toList());
		Set<String> inserted = new HashSet<>(
				jdbc.queryForList("select id from " + this.table + " where id in " + Database.placeholders(rows.size()),
						String.class, ids.toArray()));
		return rows.stream().filter((row) -> inserted.contains(row.task().id())).toList();
	}

	private void insert(JdbcOperations jdbc, List<NewRow> rows, String suffix) {
		update(jdbc, this.insert + suffix, rows.stream().map((row) -> row.insertValues(this.dialect)).toList());
	}

	private static void update(JdbcOperations jdbc, String sql, List<Object[]> rows) {
		if (rows.size() == 1) {
			jdbc.update(sql, rows.get(0));
		}
		else if (!rows.isEmpty()) {
			jdbc.batchUpdate(sql, rows);
		}
	}

	/**
	 * First checks, without locks, whether there is anything to claim.
	 */
	@Override
	Claimed claim(ClaimRequest request) {
		Claimed due = claimExpected(request);
		if (due != null) {
			return due;
		}
		Outlook outlook = this.database.store().single((jdbc) -> outlook(jdbc, request));
		if (outlook.suspects().isEmpty() && outlook.claimable().isEmpty()) {
			this.expected = this.database.time().isGiven() ? outlook : null;
			return new Claimed(List.of(), outlook.now(), outlook.nextAt());
		}
		return claim(request, outlook);
	}

	/**
	 * Claims without a check, if a test moves the time, and this is the time at which the
	 * latest check has expected the next task. The node has then changed nothing since
	 * that check: it claims again after each of its changes.
	 * @return the tasks, {@code null} if a check is necessary
	 */
	private @Nullable Claimed claimExpected(ClaimRequest request) {
		Outlook expected = this.expected;
		this.expected = null;
		long now = this.database.time().parameter();
		if (expected == null || expected.nextAt() != now || expected.next().isEmpty()
				|| !request.names().keySet().containsAll(expected.next())) {
			return null;
		}
		Claimed claimed = claim(request, new Outlook(now, List.of(), expected.next(), Long.MAX_VALUE, List.of()));
		boolean found = !claimed.tasks().isEmpty() || claimed.nextAt() <= now;
		// There may be more to claim.
		return found ? new Claimed(claimed.tasks(), now, now) : null;
	}

	private Claimed claim(ClaimRequest request, Outlook outlook) {
		return this.database.store().transaction((jdbc, status) -> {
			for (String name : outlook.suspects()) {
				List<FoundRow> suspect = find(jdbc, request, outlook.now(), name, 1, 1);
				if (!suspect.isEmpty()) {
					return lease(jdbc, request, outlook, suspect);
				}
			}
			List<FoundRow> found = new ArrayList<>();
			for (String name : outlook.claimable()) {
				Limit limit = Objects.requireNonNull(request.names().get(name));
				found.addAll(within(limit, find(jdbc, request, outlook.now(), name, 0, limit.total()), outlook.now()));
			}
			found.sort(Comparator.comparingLong(FoundRow::foundAt));
			return lease(jdbc, request, outlook, found.subList(0, Math.min(request.limit(), found.size())));
		});
	}

	/**
	 * Looks at the first task of each name. The searches of all names are one statement.
	 */
	private Outlook outlook(JdbcOperations jdbc, ClaimRequest request) {
		List<String> names = List.copyOf(request.names().keySet());
		if (names.isEmpty()) {
			return new Outlook(this.database.now(jdbc), List.of(), List.of(), Long.MAX_VALUE, List.of());
		}
		boolean joined = this.dialect.joinsNames();
		String sql = outlook(joined ? "w.name" : "?");
		long clock = this.dialect.nowParameter(this.database.time());
		long lookAhead = LeaseTimes.millis(request.lookAhead());
		List<String> searches = new ArrayList<>();
		List<Object> parameters = new ArrayList<>();
		if (joined) {
			parameters.addAll(List.of(clock, clock, lookAhead, clock, clock, clock, clock, lookAhead));
		}
		for (int i = 0; i < names.size(); i++) {
			Object name = this.dialect.text(names.get(i));
			if (joined) {
				searches.add("select %d as number, cast(? as varbinary) as name".formatted(i));
				parameters.add(name);
			}
			else {
				searches.add(sql.formatted(i));
				parameters
					.addAll(List.of(clock, name, clock, lookAhead, clock, name, clock, name, clock, clock, lookAhead));
			}
		}
		String union = String.join(" union all ", searches);
		return Outlook.of(names, request.suspect(),
				jdbc.query(joined ? sql.formatted("w.number") + " from (" + union + ") w" : union,
						(rs, rowNum) -> NameOutlook.read(rs), parameters.toArray()));
	}

	/**
	 * The searches of one name.
	 * @param name what stands for the name
	 * @return the select list, with a place for the number of the name
	 */
	private String outlook(String name) {
		String now = this.dialect.nowExpression(this.database.time());
		return ("select %%s as number, %1$s as now_at, (select next_at from %2$s where name = %3$s and suspect = 0"
				+ " and next_at <= %1$s + ? and (owner is null or next_at <= %1$s) %4$s limit 1) as claimable_at,"
				+ " (select next_at from %2$s where name = %3$s and suspect = 1 and next_at <= %1$s %4$s limit 1)"
				+ " as suspect_at, (select next_at from %2$s where name = %3$s and suspect = 0 and next_at > %1$s"
				+ " and (owner is not null or next_at > %1$s + ?) %4$s limit 1) as next_at")
			.formatted(now, this.table, name, IN_INDEX_ORDER);
	}

	/**
	 * Locks the first claimable tasks of a name.
	 * @param suspect 1 for suspects, 0 for other tasks
	 */
	private List<FoundRow> find(JdbcOperations jdbc, ClaimRequest request, long now, String name, int suspect,
			int limit) {
		return jdbc.query("select " + TaskRow.COLUMNS
				+ ", next_at, case when octet_length(payload) <= ? then payload end as payload, traceparent from "
				+ this.table + " where name = ? and suspect = ? and next_at <= ?"
				+ " and (owner is null or next_at <= ?) " + IN_INDEX_ORDER + " limit ? for update skip locked",
				(rs, rowNum) -> FoundRow.read(rs, this.dialect), request.maxPayloadBytes(), this.dialect.text(name),
				suspect, (suspect == 1) ? now : LeaseTimes.plus(now, request.lookAhead()), now, limit);
	}

	/**
	 * Leaves out the tasks beyond the limits of their name. Lost deliveries have no
	 * limit.
	 */
	private static List<FoundRow> within(Limit limit, List<FoundRow> found, long now) {
		int due = limit.due();
		int soon = limit.soon();
		List<FoundRow> within = new ArrayList<>();
		for (FoundRow row : found) {
			if (row.isLost() || ((row.foundAt() <= now) ? due-- : soon--) > 0) {
				within.add(row);
			}
		}
		return within;
	}

	/**
	 * Leases tasks. Those whose delivery was lost become suspects instead.
	 */
	private Claimed lease(JdbcOperations jdbc, ClaimRequest request, Outlook outlook, List<FoundRow> found) {
		long now = outlook.now();
		// The database may have failed over since the time was read for the outlook.
		long leasedAt = this.database.now(jdbc);
		List<FoundRow> lost = found.stream().filter(FoundRow::isLost).toList();
		FoundRow.takeAway(this.database, jdbc, lost.stream().map(FoundRow::id).toList(), leasedAt);
		List<ClaimedRow> leased = FoundRow.lease(this.database, jdbc, request,
				found.stream().filter((row) -> !row.isLost()).toList(), now, leasedAt);
		long nextAt = lost.stream().mapToLong(FoundRow::foundAt).reduce(outlook.nextAt(), Math::min);
		return ClaimedRow.claim(leased, now, nextAt);
	}

	/**
	 * As in a claim, a column that an assignment depends on is assigned after it.
	 */
	@Override
	List<Reply> begin(List<TaskRef> tasks, Duration lease) {
		return change(tasks,
				"update " + this.table + " set deliveries = deliveries + case when status = " + TaskRow.PENDING
						+ " or suspect = 1 then 1 else 0 end, alone = greatest(alone, suspect),"
						+ " suspect = 0, pending_key = null, status = " + TaskRow.RUNNING + "," + this.leaseFromNow,
				fromNow(lease), Set.of(TaskRow.PENDING, TaskRow.RUNNING), Reply.REFUSED);
	}

	@Override
	List<Reply> renew(List<TaskRef> tasks, Duration lease) {
		return change(tasks, "update " + this.table + " set" + this.leaseFromNow, fromNow(lease),
				Set.of(TaskRow.RUNNING), Reply.REFUSED);
	}

	/**
	 * If a test moves the time, deletes a single task by one statement, without the lock
	 * that other nodes would skip.
	 */
	@Override
	List<Reply> acknowledge(List<TaskRef> tasks) {
		if (this.database.time().isGiven() && tasks.size() == 1
				&& this.database.store().single((jdbc) -> acknowledge(tasks.get(0), jdbc))) {
			return List.of(Reply.DONE);
		}
		return change(tasks, "delete from " + this.table, List.of(), Set.of(TaskRow.RUNNING), Reply.DONE);
	}

	private List<Object> fromNow(Duration lease) {
		return List.of(this.dialect.nowParameter(this.database.time()), LeaseTimes.millis(lease));
	}

	/**
	 * Changes the tasks that the caller has leased.
	 * @param sql the statement without its condition
	 * @param values the parameters of the statement
	 * @param statuses the statuses from which the tasks change
	 * @param gone the reply if there is no such task
	 */
	private List<Reply> change(List<TaskRef> tasks, String sql, List<Object> values, Set<Integer> statuses,
			Reply gone) {
		return this.database.store().transaction((jdbc, status) -> {
			LockedTasks locked = LockedTasks.lock(this.database, jdbc, status, tasks);
			Set<String> ids = new HashSet<>();
			List<Reply> replies = locked.replies(tasks, Function.identity(), gone, (task, row) -> {
				if (row.isHeldAs(task) && statuses.contains(row.status())) {
					ids.add(row.id());
					return Reply.DONE;
				}
				return Reply.REFUSED;
			});
			if (!ids.isEmpty()) {
				List<@Nullable Object> parameters = new ArrayList<>(values);
				Database.addPadded(parameters, ids);
				jdbc.update(sql + " where id in " + Database.placeholders(ids.size()), parameters.toArray());
			}
			return replies;
		});
	}

	/**
	 * The result of the check for tasks to claim.
	 *
	 * @param suspects the names with a suspect, the earliest first; empty if the request
	 * is not for suspects
	 * @param claimable the names with other tasks to claim
	 * @param nextAt when there will be more to claim
	 * @param next the names that have more at that time; empty if there is a suspect,
	 * which may come first
	 */
	private record Outlook(long now, List<String> suspects, List<String> claimable, long nextAt, List<String> next) {

		static Outlook of(List<String> names, boolean suspects, List<NameOutlook> outlooks) {
			long nextAt = outlooks.stream()
				.map(NameOutlook::nextAt)
				.filter(Objects::nonNull)
				.mapToLong(Long::longValue)
				.min()
				.orElse(Long.MAX_VALUE);
			return new Outlook(outlooks.get(0).now(),
					outlooks.stream()
						.filter((outlook) -> suspects && outlook.suspectAt() != null)
						.sorted(Comparator.comparing((outlook) -> Objects.requireNonNull(outlook.suspectAt())))
						.map((outlook) -> names.get(outlook.number()))
						.toList(),
					names(names, outlooks, (outlook) -> outlook.claimableAt() != null), nextAt,
					outlooks.stream().anyMatch((outlook) -> outlook.suspectAt() != null) ? List.of()
							: names(names, outlooks, (outlook) -> Objects.equals(outlook.nextAt(), nextAt)));
		}

		private static List<String> names(List<String> names, List<NameOutlook> outlooks,
				Predicate<NameOutlook> condition) {
			return outlooks.stream().filter(condition).map((outlook) -> names.get(outlook.number())).toList();
		}

	}

	/**
	 * The {@code next_at} of the first tasks of a name, {@code null} if there are none.
	 *
	 * @param number the position of the name
	 * @param claimableAt of the tasks to claim
	 * @param suspectAt of the suspects to claim
	 * @param nextAt of the tasks to claim later
	 */
	private record NameOutlook(int number, long now, @Nullable Long claimableAt, @Nullable Long suspectAt,
			@Nullable Long nextAt) {

		static NameOutlook read(ResultSet rs) throws SQLException {
			return new NameOutlook(rs.getInt("number"), rs.getLong("now_at"), rs.getObject("claimable_at", Long.class),
					rs.getObject("suspect_at", Long.class), rs.getObject("next_at", Long.class));
		}

	}

}
