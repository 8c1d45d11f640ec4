/**
 * The protocol of durable tasks and the interface of their stores. A
 * {@link io.timingwheel.spring.durable.DelayedTaskStore} keeps the tasks of all nodes. A
 * node claims a task shortly before the task is due, puts it on its wheel, begins it at
 * its due time, runs its body, and acknowledges it. Each task runs at least once. An
 * application pauses its node or a name, and requeues dead tasks, with the bean
 * {@link io.timingwheel.spring.durable.DurableTaskAdmin}.
 *
 * <p>
 * A stored task has one of four states. A <em>scheduled</em> task waits in the store. A
 * <em>leased</em> task waits on the wheel of a node. Both are <em>pending</em>. A
 * <em>running</em> task has begun and belongs to a node under a lease. A <em>dead</em>
 * task is kept until somebody requeues or discards it. A claim finds a task by its
 * <em>time</em>. The time of a scheduled task is its due time. The time of a leased or
 * running task is the end of its lease. A dead task has no time.
 *
 * <p>
 * A scheduled, leased or running task may be a <em>suspect</em>: its last delivery was
 * lost. A running suspect is <em>lost</em> while no node has it, and <em>leased
 * again</em> until its node begins it. A suspect that has begun is called <em>alone</em>
 * instead: its node has no other such task.
 *
 * <p>
 * The words in the table change the state of a task. {@code DelayedTaskStore} and each
 * store define the words in this order.
 *
 * <pre>
 * word         from                       to           what it writes
 * -----------  -------------------------  -----------  ------------------------------------------
 * enqueue      no task has the key        scheduled    a new id, name, key, payload, trace, due
 *                                                      time, fence, attempt 1, no deliveries
 *              the same, due soon, with   leased       the same, the owner, the end of the lease
 *              a lease offer
 *              pending, REPLACE           scheduled    deletes the old task; stores the new one as
 *                                         or leased    above, with a new id and the key
 *              pending, KEEP or REJECT    as it was    nothing
 * recur        no schedule has the key    scheduled    as enqueue; the schedule and its first time
 *              another schedule, pending  scheduled    the same, in place of the old task; the
 *                                                      time by the old schedule of an overdue run,
 *                                                      unless the first time has come too
 *              the same schedule, pending as it was    the payload; if it differs, a new id and fence
 *              running                    running      the schedule and its first time, the payload
 * claim        scheduled, due within the  leased       owner, fence, end of the lease
 *              look-ahead
 *              scheduled and due          running      the same, deliveries + 1, gives up the key
 *              leased, lease ended        running      the same, deliveries + 1, gives up the key
 *              running, lease ended       running      suspect; fence; no owner; its time stays;
 *                                                      lost deliveries + 1 if it was alone
 * claim of a   scheduled and due          running      the same, if the limits of the name allow
 * limited      leased, lease ended        running      the same, if the limits of the name allow
 * name         running, lease ended       running      as above
 * claim of a   scheduled and due, or      leased       owner, fence, end of the lease
 * suspect      leased, lease ended
 *              running, lost, or leased   running      owner, fence, end of the lease
 *              again and lease ended
 * begin        leased                     running      end of the lease, deliveries + 1, gives up
 *                                                      the key; a suspect is alone
 *              running suspect            running      end of the lease, deliveries + 1, alone
 * renew        running                    running      end of the lease
 * acknowledge  running                    deleted      in a transactional task together with what
 *                                                      its body has changed
 * repeat       leased or running          scheduled    the next time; attempt 1, no deliveries; error
 *                                                      of a run that was given up; no owner; no suspect
 *              running, has got another   scheduled    the same with the first time of the new schedule
 *              schedule
 *              running, schedule ended    deleted
 * retry        running                    scheduled    due time, attempt, error; no owner; takes the
 *                                                      key again; no suspect
 *              running, key taken by      deleted
 *              a newer task
 * release      leased                     scheduled    no owner
 *              running                    scheduled    no owner; takes the key again; a suspect if
 *                                                      it was alone; releaseUnstarted: deliveries - 1
 *              running, key taken by      deleted
 *              a newer task
 * bury         leased or running          dead         error, time of death; no owner, no time;
 *                                                      gives up the key
 * cancel       pending                    deleted
 *              running, has a schedule    running      no schedule: the end of the run deletes the task
 * reschedule   pending                    scheduled    due time, fence; no owner
 *              pending, due soon, with    leased       due time, fence, owner, end of the lease
 *              a lease offer, no suspect
 * requeue      dead                       scheduled    due now, fence, attempt 1, no deliveries, no
 *                                                      error; takes the key again; no suspect
 *              dead, key taken by         dead         nothing
 *              a newer task
 * discard      dead                       deleted
 * </pre>
 *
 * <p>
 * The starts of a name may be limited over all nodes
 * ({@link io.timingwheel.spring.durable.StartLimits}). Each node sends the limits that it
 * knows with its claims. A running task counts until its node acknowledges, retries,
 * releases or buries the task, or until its lease has ended and no node can renew it any
 * more. A suspect of a limited name counts from its claim on. A name that is paused in
 * the store is in no claim.
 *
 * <p>
 * A <em>recurring</em> task has a schedule. It keeps the key of the schedule in all its
 * states, and this key has nothing to do with the keys of tasks that run once. Its time
 * by the schedule stays during retries and moves; the next time follows from it. A
 * recurring task never dies: a node ends each run with the word repeat, even a run that
 * it gives up.
 *
 * <p>
 * A node names a task by its id and its fence
 * ({@link io.timingwheel.spring.durable.TaskRef}) in the words from begin to bury. The
 * store refuses these words if the fence is not the one in the store, or if the task is
 * in none of the states above. A fence is greater than the fence before it and at least
 * the time in microseconds by the store's clock. So no fence comes twice, even if a
 * failover has lost the latest of them. A lease that has ended still counts until another
 * claim raises the fence. Anyone may use the other words.
 */
@NullMarked
package io.timingwheel.spring.durable;

import org.jspecify.annotations.NullMarked;
