/**
 * The store of durable tasks in Redis.
 *
 * <p>
 * A namespace is split into partitions, whose keys {@code prelude.lua} states. All tasks
 * of a name are in one of them, so that a claim decides limits within one script. The key
 * {@code timingwheel:{namespace}:meta} has their number and the format. A script reads
 * and writes one partition atomically, by the clock of Redis. It makes changes of the
 * table of states in {@link io.timingwheel.spring.durable.store}. Each call names all
 * keys of its partition, even if its script uses fewer, so that a server of a Cluster
 * that moves the slot refuses the whole script ({@code TRYAGAIN}) and never stops it in
 * the middle.
 *
 * <p>
 * {@link io.timingwheel.spring.durable.redis.RedisDelayedTaskStore} makes the calls about
 * single and dead tasks itself, and passes the other methods on to {@code Enqueueing},
 * {@code Claims}, {@code LeasedTasks} or {@code Reads}. These make a {@code Script.Call}
 * for each partition. The calls of applications (enqueue, recur, cancel, move) go through
 * {@code ReplicatedWrites}, all others through {@code PartitionOutages}, and then through
 * {@code Scripts}.
 */
@NullMarked
package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.NullMarked;
