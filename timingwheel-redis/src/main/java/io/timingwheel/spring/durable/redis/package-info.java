/**
 * The store of durable tasks in Redis.
 *
 * <p>
 * A namespace is split into partitions. {@code prelude.lua} states the keys of a
 * partition and their content. They are in one slot of a Cluster. The key
 * {@code timingwheel:{namespace}:meta} has the number of partitions and the format.
 *
 * <p>
 * A script ({@code prelude.lua} and a file of its own) reads and writes one partition
 * atomically, and uses the clock of Redis. The first lines of each file tell which
 * changes of the table of states in {@link io.timingwheel.spring.durable.store} it makes.
 * Each call names all keys of its partition, even if its script uses fewer. While a
 * Cluster moves the slot, the server therefore refuses the whole script
 * ({@code TRYAGAIN}), and never stops a script in the middle. A script makes its
 * deletions first, except enqueue. A Redis that is full therefore refuses new tasks, but
 * the nodes go on with the stored tasks.
 *
 * <p>
 * {@link io.timingwheel.spring.durable.redis.RedisDelayedTaskStore} passes each method on
 * to the class that has the words: {@code Enqueueing} (enqueue, recur), {@code Claims}
 * (claim), {@code LeasedTasks} (begin, renew, settle), {@code PendingAndDead} (cancel,
 * move, find, requeue, discard) and {@code Reads}. This class makes a {@code Script.Call}
 * for each partition. The calls of applications (enqueue, recur, cancel, move) go through
 * {@code ReplicatedWrites}, all others through {@code PartitionOutages}. Both send them
 * with {@code Scripts}, which gives a {@code ScriptReply} for each.
 */
@NullMarked
package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.NullMarked;
