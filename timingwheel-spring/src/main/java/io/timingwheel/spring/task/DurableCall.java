package io.timingwheel.spring.task;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * A call of a durable {@code @Delayed} method, which
 * {@link DelayedTaskOperations#enqueueAll} stores together with others. Immutable if its
 * arguments are.
 *
 * @param name the task's name
 * @param key the key within the name, {@code null} for a task without one
 * @param delay how long from now; zero and negative: as soon as possible; {@code null} if
 * there is a due time
 * @param due when it is due, by the clock of the store; may be in the past; {@code null}
 * if there is a delay
 * @param arguments the arguments of the method, by position; elements may be {@code null}
 * @param ifPending what to do if a call with this key is pending: replace or update it
 * @param maxWait with {@link IfPending#REPLACE}: the call is due at most this long after
 * the first one since it last began; {@code null} for no limit
 * @since 0.1
 */
public record DurableCall(String name, @Nullable String key, @Nullable Duration delay, @Nullable Instant due,
		List<@Nullable Object> arguments, IfPending ifPending, @Nullable Duration maxWait) {

	/**
	 * Checks the parts.
	 * @throws IllegalArgumentException if no task can have this name, if there is neither
	 * a delay nor a due time, if there are both, if the list of arguments is
	 * {@code null}, if {@code ifPending} is neither {@code REPLACE} nor {@code UPDATE},
	 * or if there is a longest wait that is negative, or without a key, or with
	 * {@code UPDATE}
	 */
	public DurableCall {
		TaskId.checkName(name);
		Assert.isTrue((delay == null) != (due == null), "A durable call must have either a delay or a due time");
		Assert.notNull(arguments, "The arguments must not be null");
		arguments = Collections.unmodifiableList(new ArrayList<>(arguments));
		Assert.isTrue(ifPending == IfPending.REPLACE || ifPending == IfPending.UPDATE,
				"A durable call can replace or update the pending one");
		Assert.isTrue(maxWait == null || (!maxWait.isNegative() && key != null && ifPending == IfPending.REPLACE),
				"A longest wait needs a key, must not be negative, and is for calls that replace the pending one:"
						+ " a call that updates the pending one never puts it off");
	}

	/**
	 * Creates a call that replaces the pending call with the same key, if there is a key.
	 */
	public DurableCall(String name, @Nullable String key, @Nullable Duration delay, @Nullable Instant due,
			List<@Nullable Object> arguments) {
		this(name, key, delay, due, arguments, IfPending.REPLACE, null);
	}

	/** Creates a call that replaces the pending call with the same id. */
	public static DurableCall of(TaskId id, Duration delay, @Nullable Object... arguments) {
		Assert.notNull(id, "The id must not be null");
		return new DurableCall(id.name(), id.key(), delay, null, list(arguments));
	}

	/** Creates a call that replaces the pending call with the same id. */
	public static DurableCall of(TaskId id, Instant due, @Nullable Object... arguments) {
		Assert.notNull(id, "The id must not be null");
		return new DurableCall(id.name(), id.key(), null, due, list(arguments));
	}

	/** Creates a call without a key, which replaces none. */
	public static DurableCall of(String name, Duration delay, @Nullable Object... arguments) {
		return new DurableCall(name, null, delay, null, list(arguments));
	}

	/** Creates a call without a key, which replaces none. */
	public static DurableCall of(String name, Instant due, @Nullable Object... arguments) {
		return new DurableCall(name, null, null, due, list(arguments));
	}

	/**
	 * Creates the same call with the due time of the pending call with its key, if there
	 * is one.
	 * @throws IllegalArgumentException if the call has a longest wait
	 */
	public DurableCall updating() {
		return new DurableCall(this.name, this.key, this.delay, this.due, this.arguments, IfPending.UPDATE,
				this.maxWait);
	}

	/**
	 * Creates the same call with a longest wait: however often it is replaced, it is due
	 * at most this long after the first call since it last began.
	 * @throws IllegalArgumentException if it is negative, if the call has no key, or if
	 * it updates the pending call
	 */
	public DurableCall maxWait(Duration maxWait) {
		Assert.notNull(maxWait, "The longest wait must not be null");
		return new DurableCall(this.name, this.key, this.delay, this.due, this.arguments, this.ifPending, maxWait);
	}

	private static List<@Nullable Object> list(@Nullable Object[] arguments) {
		Assert.notNull(arguments, "The arguments must not be null");
		return Arrays.asList(arguments);
	}

}
