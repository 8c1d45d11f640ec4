package io.timingwheel.spring.durable.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;

import io.timingwheel.spring.durable.Claimed;
import io.timingwheel.spring.durable.ClaimRequest.Limit;
import io.timingwheel.spring.durable.ClaimRequest;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcOperations;

/**
 * Claims tasks in SQL that H2, MariaDB and MySQL understand. A claim first checks,
 * without locks, which names have tasks to claim. It then locks the rows of these tasks,
 * and changes all with one statement.
 */
final class PortableClaims {

	/**
	 * By time within a name. H2 reads the first row of the index only if the order names
	 * all columns of the index. Otherwise H2 reads and sorts all rows.
	 */
	private static final String BY_INDEX = "order by name, suspect, next_at";

	private final Database database;

	private final PortableDialect dialect;

	private final TableName table;

	/**
	 * The result of the latest check if a test moves the time, and there was nothing to
	 * claim; {@code null} otherwise.
	 */
	private volatile @Nullable ClaimableNames expected;

	PortableClaims(Database database, PortableDialect dialect) {
		this.database = database;
		this.dialect = dialect;
		this.table = database.table();
	}

	Claimed claim(ClaimRequest request) {
		Claimed due = claimExpected(request);
		if (due != null) {
			return due;
		}
		ClaimableNames claimable = this.database.store().single((jdbc) -> check(jdbc, request));
		if (claimable.suspects().isEmpty() && claimable.others().isEmpty()) {
			this.expected = this.database.time().isGiven() ? claimable : null;
			return new Claimed(List.of(), claimable.now(), claimable.nextAt());
		}
		return claim(request, claimable);
	}

	/**
	 * Claims without a check if a test moves the time, and the latest check has expected
	 * the next task now. The node claims again after each of its changes, so it has
	 * changed nothing since that check.
	 * @return the tasks, {@code null} if a check is necessary
	 */
	private @Nullable Claimed claimExpected(ClaimRequest request) {
		ClaimableNames expected = this.expected;
		this.expected = null;
		long now = this.database.time().parameter();
		if (expected == null || expected.nextAt() != now || expected.next().isEmpty()
				|| !request.names().keySet().containsAll(expected.next())) {
			return null;
		}
		Claimed claimed = claim(request,
				new ClaimableNames(now, List.of(), expected.next(), Long.MAX_VALUE, List.of()));
		boolean found = !claimed.tasks().isEmpty() || claimed.nextAt() <= now;
		// There may be more to claim now.
		return found ? new Claimed(claimed.tasks(), now, now) : null;
	}

	private Claimed claim(ClaimRequest request, ClaimableNames claimable) {
		return this.database.store().<LeasedRows>transaction((jdbc, status) -> {
			for (String name : claimable.suspects()) {
				List<FoundRow> suspect = find(jdbc, request, claimable.now(), name, 1, 1);
				if (!suspect.isEmpty()) {
					return lease(jdbc, request, claimable, suspect);
				}
			}
			List<FoundRow> found = new ArrayList<>();
			for (String name : claimable.others()) {
				Limit limit = Objects.requireNonNull(request.names().get(name));
				found.addAll(
						within(limit, find(jdbc, request, claimable.now(), name, 0, limit.total()), claimable.now()));
			}
			found.sort(Comparator.comparingLong(FoundRow::foundAt));
			return lease(jdbc, request, claimable, found.subList(0, Math.min(request.limit(), found.size())));
		}).claimed();
	}

	/**
	 * Looks for the first tasks of each name. The searches of all names are one
	 * statement.
	 */
	private ClaimableNames check(JdbcOperations jdbc, ClaimRequest request) {
		List<String> names = List.copyOf(request.names().keySet());
		if (names.isEmpty()) {
			return new ClaimableNames(this.database.now(jdbc), List.of(), List.of(), Long.MAX_VALUE, List.of());
		}
		boolean joined = this.dialect.joinsNames();
		String select = selectTimes(joined ? "w.name" : "?");
		long clock = this.dialect.nowParameter(this.database.time(), jdbc);
		long lookAhead = LeaseTimes.millis(request.lookAhead());
		long horizon = LeaseTimes.horizon(request.lookAhead(), request);
		List<String> parts = new ArrayList<>();
		List<Object> parameters = new ArrayList<>();
		if (joined) {
			parameters.addAll(List.of(clock, clock, lookAhead, clock, clock, clock, clock, lookAhead, clock, horizon));
		}
		for (int i = 0; i < names.size(); i++) {
			Object name = this.dialect.text(names.get(i));
			if (joined) {
				parts.add("select %d as number, cast(? as varbinary) as name".formatted(i));
				parameters.add(name);
			}
			else {
				parts.add(select.formatted(i));
				parameters.addAll(List.of(clock, name, clock, lookAhead, clock, name, clock, name, clock, clock,
						lookAhead, clock, horizon));
			}
		}
		String union = String.join(" union all ", parts);
		return ClaimableNames.of(names, request.suspect(),
				jdbc.query(joined ? select.formatted("w.number") + " from (" + union + ") w" : union,
						(rs, rowNum) -> NameTimes.read(rs), parameters.toArray()));
	}

	/**
	 * The select list with the searches of one name, and with a format specifier for the
	 * number of the name.
	 * @param name the name as the list has it: a parameter or a column
	 */
	private String selectTimes(String name) {
		String now = this.dialect.nowExpression(this.database.time());
		return ("select %%s as number, %1$s as now_at, (select next_at from %2$s where name = %3$s and suspect = 0"
				+ " and next_at <= %1$s + ? and (owner is null or next_at <= %1$s) %4$s limit 1) as claimable_at,"
				+ " (select next_at from %2$s where name = %3$s and suspect = 1 and next_at <= %1$s %4$s limit 1)"
				+ " as suspect_at, (select next_at from %2$s where name = %3$s and suspect = 0 and next_at > %1$s"
				+ " and (owner is not null or next_at > %1$s + ?) and next_at <= %1$s + ? %4$s limit 1) as next_at")
			.formatted(now, this.table, name, BY_INDEX);
	}

	/**
	 * Locks the first claimable tasks of a name.
	 * @param suspect 1 for suspects, 0 for other tasks
	 */
	private List<FoundRow> find(JdbcOperations jdbc, ClaimRequest request, long now, String name, int suspect,
			int limit) {
		return jdbc.query(
				"select " + FoundRow.COLUMNS_UP_TO_SIZE + " from " + this.table
						+ " where name = ? and suspect = ? and next_at <= ?" + " and (owner is null or next_at <= ?) "
						+ BY_INDEX + " limit ? for update skip locked",
				(rs, rowNum) -> FoundRow.read(rs, this.dialect), this.dialect.storedBytes(request.maxPayloadBytes()),
				this.dialect.text(name), suspect, (suspect == 1) ? now : LeaseTimes.plus(now, request.lookAhead()), now,
				limit);
	}

	/**
	 * Leaves out the tasks beyond the limits of their name. Tasks whose delivery was lost
	 * have no limit.
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
	private LeasedRows lease(JdbcOperations jdbc, ClaimRequest request, ClaimableNames claimable,
			List<FoundRow> found) {
		long now = claimable.now();
		// The database may have failed over since the time was read in the check.
		TimeReading time = this.database.readTime(jdbc);
		long leasedAt = time.millis();
		List<FoundRow> lost = found.stream().filter(FoundRow::isLost).toList();
		FoundRow.takeAway(this.database, jdbc, lost.stream().map(FoundRow::id).toList(), leasedAt);
		List<ClaimedRow> leased = FoundRow.lease(this.database, jdbc, request,
				found.stream().filter((row) -> !row.isLost()).toList(), now, leasedAt);
		long nextAt = lost.stream().mapToLong(FoundRow::foundAt).reduce(claimable.nextAt(), Math::min);
		return new LeasedRows(leased, time, nextAt);
	}

	/**
	 * What a claim has leased.
	 *
	 * @param time the time of the leases
	 * @param nextAt when there will be more tasks to claim
	 */
	private record LeasedRows(List<ClaimedRow> rows, TimeReading time, long nextAt) {

		/**
		 * The result when the transaction has ended. A node compares the time in the
		 * result with its own clock. The less time passes in between, the less late the
		 * tasks start.
		 */
		Claimed claimed() {
			return ClaimedRow.claim(this.rows, this.time.now(), this.nextAt);
		}

	}

	/**
	 * The names that have tasks to claim, by a check without locks.
	 *
	 * @param now the time of the check
	 * @param suspects the names with a suspect, the earliest first; empty if the request
	 * is not for suspects
	 * @param others the names with other tasks to claim
	 * @param nextAt when there will be more tasks to claim, {@link Long#MAX_VALUE} for
	 * none
	 * @param next the names that have more tasks at that time; empty if there is a
	 * suspect, which a claim may take first
	 */
	private record ClaimableNames(long now, List<String> suspects, List<String> others, long nextAt,
			List<String> next) {

		static ClaimableNames of(List<String> names, boolean suspects, List<NameTimes> all) {
			long nextAt = all.stream()
				.map(NameTimes::nextAt)
				.filter(Objects::nonNull)
				.mapToLong(Long::longValue)
				.min()
				.orElse(Long.MAX_VALUE);
			return new ClaimableNames(all.get(0).now(),
					all.stream()
						.filter((times) -> suspects && times.suspectAt() != null)
						.sorted(Comparator.comparing((times) -> Objects.requireNonNull(times.suspectAt())))
						.map((times) -> names.get(times.number()))
						.toList(),
					names(names, all, (times) -> times.claimableAt() != null), nextAt,
					all.stream().anyMatch((times) -> times.suspectAt() != null) ? List.of()
							: names(names, all, (times) -> Objects.equals(times.nextAt(), nextAt)));
		}

		private static List<String> names(List<String> names, List<NameTimes> all, Predicate<NameTimes> condition) {
			return all.stream().filter(condition).map((times) -> names.get(times.number())).toList();
		}

	}

	/**
	 * The {@code next_at} of the first tasks of a name, {@code null} if there are none.
	 *
	 * @param number the position of the name in the request
	 * @param now the time of the check
	 * @param claimableAt of the tasks to claim
	 * @param suspectAt of the suspects to claim
	 * @param nextAt of the tasks to claim later
	 */
	private record NameTimes(int number, long now, @Nullable Long claimableAt, @Nullable Long suspectAt,
			@Nullable Long nextAt) {

		static NameTimes read(ResultSet rs) throws SQLException {
			return new NameTimes(rs.getInt("number"), rs.getLong("now_at"), rs.getObject("claimable_at", Long.class),
					rs.getObject("suspect_at", Long.class), rs.getObject("next_at", Long.class));
		}

	}

}
