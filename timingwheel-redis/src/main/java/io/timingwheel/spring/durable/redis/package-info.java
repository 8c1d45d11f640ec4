/**
 * The store of durable tasks in Redis.
 *
 * <h2>Keys</h2>
 *
 * A namespace is split into partitions. The keys of a partition are in one slot of a
 * Cluster. {@code prelude.lua} states their content in full.
 *
 * <pre>
 * timingwheel:{namespace:3}:heads    hash        id -&gt; all that changes in the life of a task
 * timingwheel:{namespace:3}:bodies   hash        id -&gt; payload and trace
 * timingwheel:{namespace:3}:index    sorted set  the tasks by name, section and time
 * timingwheel:{namespace:3}:holders  hash        name and key -&gt; id of the task that holds the key
 * timingwheel:{namespace:3}:paused   set         a copy of the names that are paused
 * timingwheel:{namespace:3}:places:n sorted set  the places of the limited name n -&gt; when their leases end
 * timingwheel:{namespace:3}:rates    hash        limited name -&gt; when its rate allows the next start
 * timingwheel:{namespace:3}:nodes    hash        node -&gt; what the node has reported about itself
 * timingwheel:{namespace}:meta       hash        the number of partitions, the format
 * </pre>
 *
 * <p>
 * All scores of the index are 0, so Redis orders its members by their bytes: the length
 * of the name in one byte, the name, a letter for the section, the time in eight bytes,
 * the id. There is a section for each state ({@code s} scheduled, {@code l} leased,
 * {@code r} running, {@code d} dead), and one each for the suspects that are scheduled
 * ({@code u}) or leased ({@code v}). Within a section the members are in the order of
 * time. From this one key a script reads in logarithmic time the first task of a name
 * that is due, the dead tasks of a name, and the number of tasks in each section. If no
 * node knows a name, its tasks do not slow down the claims.
 *
 * <h2>Scripts</h2>
 *
 * A script ({@code prelude.lua} and a file of its own) reads and writes one partition
 * atomically, and uses the clock of Redis. {@code enqueue}, {@code recur}, {@code claim},
 * {@code hold} (begin, renew), {@code end} (settle), {@code cancel}, {@code move},
 * {@code requeue} and {@code discard} make the changes of the table of states in
 * {@link io.timingwheel.spring.durable.store}; the first lines of each file tell which.
 * {@code places} changes the places and the rate of a limited name, {@code nodes} the
 * reports of the nodes. {@code find}, {@code list}, {@code counts} and {@code forecast}
 * only read.
 *
 * <p>
 * Each call names all keys of its partition, even if its script uses fewer. While a
 * Cluster moves the slot, the server therefore refuses the whole script
 * ({@code TRYAGAIN}), and never stops a script in the middle. A script makes its
 * deletions first, except enqueue. A Redis that is full therefore refuses new tasks, but
 * the nodes go on with the stored tasks.
 *
 * <h2>The way of a call</h2>
 *
 * {@link io.timingwheel.spring.durable.redis.RedisDelayedTaskStore} passes each method on
 * to the class that has the words: {@code Enqueueing} (enqueue, recur), {@code Claims}
 * (claim), {@code LeasedTasks} (begin, renew, settle), {@code PendingAndDead} (cancel,
 * move, find, requeue, discard) and {@code Reads}. This class makes a {@code Script.Call}
 * for each partition.
 *
 * <p>
 * The calls of applications (enqueue, recur, cancel, move) go through
 * {@code ReplicatedWrites}, and all others through {@code PartitionOutages}. Both send
 * the calls with {@code Scripts}, which gives a {@code ScriptReply} for each call.
 */
@NullMarked
package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.NullMarked;
