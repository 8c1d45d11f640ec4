/**
 * Durable tasks on Redis. A namespace is split into partitions, each with three keys in
 * one slot of a Cluster:
 *
 * <pre>
 * timingwheel:{namespace:3}:tasks    hash: id -&gt; the packed task
 * timingwheel:{namespace:3}:index    sorted set: what is due, leased, running or dead, by name and time
 * timingwheel:{namespace:3}:holders  hash: name and key -&gt; id of the pending task that has them
 * timingwheel:{namespace}:meta       hash: the number of partitions
 * </pre>
 *
 * <p>
 * All scores of the index are 0, so that Redis orders its members by their bytes, and a
 * range of bytes is a range of time within a state within a name: the length of the name
 * in one byte, the name, a letter for the state ({@code s} scheduled, {@code l} leased,
 * {@code r} running, {@code d} dead), the time in eight bytes, and the id. So the first
 * due task of a name, its dead ones, and how many there are of each kind are read in
 * logarithmic time from one key, and a name that no node knows stands in nobody's way. A
 * task that is leased but has not begun stands in the index twice: by the end of its
 * lease, and (letter {@code w}) by the time that it is due.
 *
 * <p>
 * A script ({@code *.lua}, behind {@code common.lua}) reads and writes one partition in
 * one step, by the clock of Redis. It names all three keys, so that while a Cluster moves
 * the slot it is refused as a whole ({@code TRYAGAIN}) and never stops in the middle.
 * What a script frees it writes first, so that a Redis that is full refuses new tasks,
 * but not the work on those that it has.
 */
@NullMarked
package io.timingwheel.spring.durable.redis;

import org.jspecify.annotations.NullMarked;
