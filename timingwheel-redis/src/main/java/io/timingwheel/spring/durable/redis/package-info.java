/**
 * The store of durable tasks in Redis.
 *
 * <h2>Keys</h2>
 *
 * A namespace is split into partitions. Each partition has three keys in one slot of a
 * Cluster. {@code parts/model.lua} states their content in full.
 *
 * <pre>
 * timingwheel:{namespace:3}:tasks    hash        id -&gt; packed task; + and id -&gt; what has changed since
 * timingwheel:{namespace:3}:index    sorted set  the tasks by name, state and time
 * timingwheel:{namespace:3}:holders  hash        name and key -&gt; id of the pending task that has the key
 * timingwheel:{namespace:3}:places:n sorted set  the places of the limited name n -&gt; when their leases end
 * timingwheel:{namespace:3}:limits   hash        limited name -&gt; when its rate allows the next start;
 *                                               \255 and name -&gt; how much of its starts was given back
 * timingwheel:{namespace}:meta       hash        the number of partitions, the format, a random value
 * timingwheel:{namespace}:paused     set         the names that are paused
 * timingwheel:{namespace}:nodes      hash        node -&gt; whether it claims, how many tasks it holds, when it reported
 * </pre>
 *
 * <p>
 * All scores of the index are 0, so Redis orders its members by their bytes: the length
 * of the name in one byte, the name, a letter for the state ({@code s} scheduled,
 * {@code l} leased, {@code r} running, {@code d} dead; a capital if the task is a
 * suspect), the time in eight bytes, the id. Within a name and a state, the members are
 * therefore in the order of time. From this one key a script reads in logarithmic time
 * the first task of a name that is due, the dead tasks of a name, and the number of tasks
 * in each state. If no node knows a name, its tasks do not slow down the claims. A leased
 * task has two members: one with the end of its lease, and one (letter {@code w}) with
 * its due time.
 *
 * <h2>Transitions</h2>
 *
 * A script (its own file after the parts that it needs, see {@code ScriptSource}) reads
 * and writes one partition atomically, and uses the clock of Redis. The table shows which
 * keys a script reads (r) and writes (w). {@link io.timingwheel.spring.durable} says what
 * the words mean.
 *
 * <pre>
 * script         tasks  index  holders  from -&gt; to
 * enqueue        r w    w      r w      new task -&gt; scheduled, or leased if due soon;
 *                                       the pending task that it replaces -&gt; deleted
 * recur          r w    w      r w      schedule -&gt; scheduled; the one that it replaces -&gt; deleted;
 *                                       running -&gt; running, with another schedule;
 *                                       to restore: none -&gt; scheduled, unless it was cancelled
 * claim          r w    r w    w        scheduled and due soon -&gt; leased, or running if due now;
 *                                       leased, lease ended -&gt; the same;
 *                                       running, lease ended -&gt; running suspect
 * claim_limited  r w    r w    w        as claim, of one name, for tasks that are due
 * claim_suspect  r w    r w             suspect, scheduled and due -&gt; leased;
 *                                       suspect, lost or lease ended -&gt; the same
 * begin          r w    w      w        leased, or running suspect -&gt; running
 * renew          r w    w               running -&gt; running, with a new end of the lease
 * acknowledge    r w    w               running -&gt; deleted
 * repeat         r w    w      w        leased or running -&gt; scheduled for the next run, or deleted if
 *                                       the schedule has ended
 * retry          r w    w      r w      running -&gt; scheduled, or deleted if a newer pending task has the key
 * release        r w    w      r w      leased or running -&gt; scheduled, or deleted as above
 * bury           r w    r w    w        leased or running -&gt; dead; the oldest dead beyond the limit -&gt; deleted
 * cancel         r w    w      r w      scheduled or leased -&gt; deleted
 * reschedule     r w    w      r        scheduled or leased -&gt; scheduled, or leased if due soon
 * requeue        r w    w      r w      dead -&gt; scheduled, due now
 * discard        r w    w               dead -&gt; deleted
 * expire         w      r w             dead for longer than the retention -&gt; deleted
 * find           r             r        reads only
 * pending        r      r               reads only
 * latest_dead    r      r               reads only
 * dead           r      r               reads only
 * counts                r               reads only
 * forecast              r               reads only
 * now                                   reads only the clock
 * </pre>
 *
 * <p>
 * The scripts {@code take_places}, {@code keep_places} and {@code free_places} change the
 * places and the rate of a name whose starts are limited over all nodes, in the partition
 * of the name. {@code Places} says in which order a node changes places and tasks.
 *
 * <p>
 * The script {@code look_limited} reads the first tasks of limited names, before a claim
 * takes places for them.
 *
 * <p>
 * Each call names all three keys, even if its script uses fewer. While a Cluster moves
 * the slot, the server therefore refuses the whole script ({@code TRYAGAIN}), and never
 * stops a script in the middle. A script makes its deletions first, except enqueue. A
 * Redis that is full therefore refuses new tasks, but the nodes go on with the stored
 * tasks.
 *
 * <h2>The way of a call</h2>
 *
 * {@link io.timingwheel.spring.durable.redis.RedisDelayedTaskStore} passes each method on
 * to the class that has the words: {@code Enqueueing} (enqueue, recur),
 * {@code TaskClaims} and {@code RedisLimitedClaims} (claim), {@code LeasedEntries} (begin
 * to bury), {@code PendingEntries} (cancel, reschedule) and {@code DeadEntries} (requeue,
 * discard). This class makes a {@code Script.Call} for each partition, or one
 * {@code TaskBatch} for many tasks.
 *
 * <p>
 * The calls of users (enqueue, cancel, reschedule) go through {@code ReplicatedWrites},
 * and the calls of nodes (claim to bury) through {@code PartitionOutages}. Both send the
 * calls with {@code ScriptRunner}, which gives a {@code ScriptReply} for each call.
 * Queries and the calls of operators go to {@code ScriptRunner} at once.
 */
@NullMarked
package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.NullMarked;
