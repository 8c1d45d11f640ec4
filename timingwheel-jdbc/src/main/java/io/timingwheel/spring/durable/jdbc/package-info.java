/**
 * The store of durable tasks in a relational database, through Spring JDBC.
 *
 * <p>
 * One table has one row for each task. Its column {@code next_at} is the due time of a
 * scheduled task, the end of the lease of a leased or running task, and null for a dead
 * task. Claims search the index on name, queue and this column, where the queue keeps the
 * pending tasks, the running tasks and the suspects of a name apart. A unique index on
 * {@code name} and {@code held_key} lets only one pending task have a key, and only one
 * schedule.
 *
 * <p>
 * {@code Database} gives a call its transaction: that of the caller, or a short one. On
 * PostgreSQL the most frequent changes take one statement each, for any number of tasks.
 * Otherwise a change locks rows ({@code TaskRow}), decides, and writes.
 */
@NullMarked
package io.timingwheel.spring.durable.jdbc;

import org.jspecify.annotations.NullMarked;
