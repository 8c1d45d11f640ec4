/**
 * The interface between durable tasks and their stores. Who writes a store implements
 * {@link io.timingwheel.spring.durable.store.DelayedTaskStore} and runs its tests, which
 * are in the module {@code timingwheel-store-tests}.
 *
 * <h2>The life of a stored task</h2>
 *
 * A task is <em>scheduled</em> until a node claims it. A node that claims it before it is
 * due has it <em>leased</em>. A task whose body may run is <em>running</em>. A task that
 * was given up is <em>dead</em>. Scheduled and leased tasks are <em>pending</em>: they
 * can be cancelled, moved and replaced, and they hold their keys.
 *
 * <p>
 * This table has all changes. "✓": the id and the fence of the message must be those of
 * the task. "↑": the fence rises. {@code lost} is the number of lost deliveries.
 *
 * <pre>
 * state                  event                        next state                         fence
 * none                   enqueue, recur               scheduled                          new
 * scheduled, leased      enqueue REPLACE, UPDATE      scheduled, with a new id           new
 * scheduled, leased      enqueue KEEP, REJECT         the same                           -
 * scheduled, leased,     recur                        scheduled, with a new id; the same new
 * with a schedule                                     if schedule and payload are the
 *                                                     same
 * scheduled              claim: due soon, or lost > 0 leased                             ↑
 * scheduled              claim: due, lost = 0, the    running, without its key,          ↑
 *                        limits of the name allow it  deliveries + 1
 * leased, lease over     claim                        as from scheduled                  ↑
 * running, lease over    claim                        scheduled, without its key,        ↑
 *                                                     lost + 1; gone if the schedule has
 *                                                     ended
 * leased                 begin                        running, without its key,          ✓
 *                                                     deliveries + 1
 * leased, lost > 0,      begin                        the same, and the store refuses    -
 * lease over
 * running                renew                        running                            ✓
 * running                settle: acknowledge          gone                               ✓
 * leased, running        settle: repeat               scheduled, lost = 0; gone if the   ✓
 *                                                     schedule has ended
 * running                settle: retry                scheduled, lost = 0; gone if its   ✓
 *                                                     key is taken
 * leased, running        settle: release              scheduled; gone if its key is      ✓
 *                                                     taken
 * running, its body has  settle: release              scheduled, deliveries - 1; gone    ✓
 * not started                                         if its key is taken
 * leased, running        settle: bury                 dead; gone beyond the number that  ✓
 *                                                     a store keeps
 * scheduled, leased      cancel                       gone                               -
 * scheduled, leased      move                         scheduled                          ↑
 * running, with a        cancel                       running, without its schedule      -
 * schedule
 * running, with a        recur                        running; the new schedule begins   -
 * schedule                                            after the run
 * scheduled or running,  cancel                       the same as above; a mark stays,   -
 * a declared schedule                                 so that a missing task means lost
 * dead                   requeue                      scheduled, due now, lost = 0; dead ↑
 *                                                     if its key is taken
 * dead                   discard                      gone                               -
 * </pre>
 *
 * <p>
 * A <em>recurring</em> task has a schedule. It keeps the key of the schedule in all its
 * states, and this key has nothing to do with the keys of tasks that run once. Its time
 * by the schedule stays during retries and moves; the next time follows from it. It never
 * dies: a node ends each run with a repetition. A run whose schedule was cancelled is the
 * last one, however the run is settled.
 *
 * <p>
 * The starts of a name may be limited over all nodes
 * ({@link io.timingwheel.spring.durable.store.StartLimits}), by what the nodes send with
 * their claims. A running task counts until it is settled, or until its lease has ended.
 * A leased task with lost deliveries counts from its claim until its lease has ended, so
 * the task does not begin after that. While such a task waits, the other tasks of its
 * name leave one place for it, and those with its key wait if the starts of a key are
 * limited.
 *
 * <p>
 * A claim finds a scheduled task by its due time, and a leased or running one by the end
 * of its lease. The lease of a claim lasts from the due time, or from now if that has
 * passed.
 */
@NullMarked
package io.timingwheel.spring.durable.store;

import org.jspecify.annotations.NullMarked;
