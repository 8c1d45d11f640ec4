/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 *
 * <p>
 * One table has one row for each task. Its column {@code next_at} is the due time of a
 * scheduled task, the end of the lease of a leased or running task, and null for a dead
 * task. Claims search the index on name, queue and this column, where the queue keeps the
 * pending tasks, the running tasks and the suspects of a name apart. A unique index on
 * {@code name} and {@code held_key} lets only one pending task have a key, and only one
 * schedule. The row of a name says whether the name is paused, when its rate allows the
 * next start, and whether its declared schedule was cancelled.
 * <ul>
 * <li>What applications do: {@code Storing} has enqueue, {@code PendingTasks} has cancel,
 * move, find and recur.
 * <li>What nodes do: {@code Claims} and its two kinds of steps ({@code PostgresClaims},
 * {@code PortableClaims}), {@code NameLimits} for names whose starts are limited,
 * {@code LeasedTasks} for begin, renew and acknowledge, {@code Settlements} for the rest.
 * <li>What operators do: {@code DeadTasks}, {@code Counts} and {@code Reads}.
 * <li>{@code Database} gives a call its transaction: that of the caller
 * ({@code ApplicationTransaction}), or a short one ({@code ShortTransactions}). A
 * {@code Session} runs its statements, whose texts come from {@code Statements}. Most
 * changes lock a {@code TaskRow}, change this object, and write it.
 * <li>{@code Dialect} and its subclasses have the small differences between the
 * databases. On PostgreSQL the most frequent changes take one statement each, for any
 * number of tasks. Otherwise a change locks rows, decides, and writes.
 * <li>{@code Schema} checks the tables, and knows the script that creates them.
 * </ul>
 */
@NullMarked
package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.NullMarked;
