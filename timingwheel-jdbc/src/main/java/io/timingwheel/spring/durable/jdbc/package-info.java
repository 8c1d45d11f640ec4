/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 *
 * <p>
 * One table has one row for each task. Its column {@code next_at} is the due time of a
 * scheduled task, the end of the lease of a leased or running task, and null for a dead
 * task. Each claim searches the index on this column. A unique index on {@code name} and
 * {@code pending_key} lets only one pending task have a key. {@code pending_key} becomes
 * null when the task begins, and {@code task_key} keeps the key.
 * <ul>
 * <li>{@code Transitions} has the transitions in the order of the protocol. Retry,
 * release and bury lock all rows ({@code LockedTasks}: {@code for update skip locked})
 * and update each; cancel deletes a row; reschedule locks a row and updates it.
 * {@code ScheduleRows} has the transitions of recurring tasks: recur and repeat.
 * {@code DeadRows} reads, requeues and discards dead tasks in pages.
 * <li>{@code PostgresTransitions} has enqueue, claim, begin, renew and acknowledge in one
 * statement each, for any number of tasks ({@code EnqueueStatements},
 * {@code ClaimStatement}, {@code LeaseStatement}). {@code PortableTransitions} and
 * {@code PortableClaims} have the same for H2, MariaDB and MySQL, which first lock the
 * rows and then change all with one statement.
 * <li>{@code JdbcLimitedClaims} claims tasks of names whose starts are limited over all
 * nodes, with the lock of a name ({@code LimitRows}, {@code LockedNameClaim}).
 * {@code LimitedClaimStatement} does so on PostgreSQL in one request.
 * <li>A row as a record: {@code TaskRow} without the large columns, {@code FoundRow} with
 * them, {@code NewRow} before it is stored, {@code ClaimedRow} after a claim.
 * <li>{@code ClaimFloors} remembers how far the claims on PostgreSQL have come.
 * {@code TaskQueries} reads tasks without locks. {@code RowCounts} counts or estimates
 * the tasks of each name, and {@code DueForecasts} the tasks that fall due in spans of
 * time. {@code NodeRows} has what the nodes report.
 * <li>{@code Dialect} and its subclasses have the small differences between the
 * databases.
 * <li>{@code JdbcStoreSchema} knows the version of the schema and its scripts. The
 * scripts of MySQL look up a column before they add it, since MySQL has no
 * {@code add column if not exists}. Each script may therefore run again after it has
 * failed.
 * <li>{@code ApplicationTransaction} finds the transaction that a call joins.
 * {@code ShortTransactions} runs everything else.
 * </ul>
 */
@NullMarked
package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.NullMarked;
