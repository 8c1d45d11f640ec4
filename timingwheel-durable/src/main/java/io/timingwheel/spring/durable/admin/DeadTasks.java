package io.timingwheel.spring.durable.admin;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.internal.RefusedRequest;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.durable.node.TaskPages;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.StoredTask.Position;
import org.jspecify.annotations.Nullable;

import org.springframework.util.DigestUtils;

/**
 * Requeues, deletes and groups dead tasks. A call reads one page and filters it here,
 * since no index finds a part of a text. The caller goes on with the cursor. Thread-safe.
 *
 * @since 0.1
 */
public final class DeadTasks implements StoredTasks.Dead {

	/** How many dead tasks a call groups at most. */
	private static final int MAX_EXAMINED = 2000;

	private static final Pattern GROUP = Pattern.compile("[0-9a-f]{32}");

	private final DelayedTaskStore store;

	private final TaskPages pages;

	private final Function<List<String>, List<Requeue>> requeue;

	/**
	 * @param requeue makes dead tasks pending, and tells the node
	 */
	public DeadTasks(DelayedTaskStore store, TaskPages pages, Function<List<String>, List<Requeue>> requeue) {
		this.store = store;
		this.pages = pages;
		this.requeue = requeue;
	}

	@Override
	public StepDescriptor requeueAll(String name, DeadSelection which, @Nullable String cursor) {
		Step step = step(name, which, cursor);
		List<Requeue> results = step.ids.isEmpty() ? List.of() : this.requeue.apply(step.ids);
		return new StepDescriptor(Collections.frequency(results, Requeue.REQUEUED),
				Collections.frequency(results, Requeue.KEY_PENDING), step.next != null, step.next);
	}

	@Override
	public StepDescriptor deleteAll(String name, DeadSelection which, @Nullable String cursor) {
		Step step = step(name, which, cursor);
		int deleted = step.ids.isEmpty() ? 0 : this.store.discard(step.ids);
		return new StepDescriptor(deleted, 0, step.next != null, step.next);
	}

	/**
	 * Finds the tasks of one page. Those that die from the first call on are left alone:
	 * tasks that fail at once would be requeued without an end.
	 */
	private Step step(String name, DeadSelection which, @Nullable String cursor) {
		Predicate<@Nullable String> filter = filter(which);
		Cursor at = (cursor != null) ? Cursor.parse(cursor) : new Cursor(this.store.now(), null);
		Page page = this.pages.read(name, Order.DEAD_OLDEST_FIRST, at.after(), DelayedTaskStore.MAX_STEP);
		List<String> ids = new ArrayList<>();
		boolean remaining = page.more();
		for (StoredTask task : page.tasks()) {
			if (task.position().time() > at.until()) {
				remaining = false;
				break;
			}
			if (filter.test(task.error())) {
				ids.add(task.id());
			}
			at = at.after(task.position());
		}
		return new Step(ids, remaining ? at.toString() : null);
	}

	@Override
	public DeadDescriptor byError(String name, @Nullable String cursor) {
		Cursor at = (cursor != null) ? Cursor.parse(cursor) : new Cursor(DelayedTaskStore.MAX_TIME, null);
		Map<String, DeadDescriptor.Group> groups = new LinkedHashMap<>();
		int examined = 0;
		Page page = this.pages.read(name, Order.DEAD_LATEST_FIRST, at.after(), MAX_EXAMINED);
		boolean more = page.more();
		for (StoredTask task : page.tasks()) {
			DeadDescriptor.Group group = group(task);
			if (groups.size() == DeadDescriptor.MAX_GROUPS && !groups.containsKey(group.error())) {
				more = true;
				break;
			}
			groups.merge(group.error(), group, DeadTasks::plus);
			examined++;
			at = at.after(task.position());
		}
		return new DeadDescriptor(name, List.copyOf(groups.values()), examined, !more && cursor == null,
				more ? at.toString() : null);
	}

	private static DeadDescriptor.Group group(StoredTask task) {
		String error = DeadDescriptor.beginOf(Objects.requireNonNullElse(task.error(), ""));
		Instant diedAt = Instant.ofEpochMilli(task.position().time());
		return new DeadDescriptor.Group(error, groupOf(error), 1, diedAt, diedAt, task.id());
	}

	/** Of two groups with the same error, the later one first. */
	private static DeadDescriptor.Group plus(DeadDescriptor.Group group, DeadDescriptor.Group earlier) {
		return new DeadDescriptor.Group(group.error(), group.group(), group.count() + earlier.count(), earlier.first(),
				group.last(), group.id());
	}

	/**
	 * @throws RefusedRequest if the selection has no id of a group
	 */
	private static Predicate<@Nullable String> filter(DeadSelection which) {
		String group = which.group();
		if (group != null) {
			if (!GROUP.matcher(group).matches()) {
				throw RefusedRequest
					.invalid("The group \"%s\" is not one of an earlier reply: read the groups again".formatted(group));
			}
			return (error) -> group.equals(groupOf(error));
		}
		String text = which.text();
		return (error) -> text == null || (error != null && error.contains(text));
	}

	/**
	 * The same on all nodes. Does not show the error, but who can guess it can check the
	 * guess.
	 */
	private static String groupOf(@Nullable String error) {
		return DigestUtils.md5DigestAsHex(
				DeadDescriptor.beginOf(Objects.requireNonNullElse(error, "")).getBytes(StandardCharsets.UTF_8));
	}

	/**
	 * Where the next call among the dead tasks of a name goes on.
	 *
	 * @param until tasks that died later are left alone
	 * @param after the last task that was looked at, {@code null} for none
	 */
	private record Cursor(long until, @Nullable Position after) {

		private static final Pattern PATTERN = Pattern.compile("(\\d{1,18})-(?:(\\d{1,18})-(.{1,100}))?");

		static Cursor parse(String text) {
			Matcher matcher = PATTERN.matcher(text);
			if (!matcher.matches()) {
				throw RefusedRequest.invalid(
						"The cursor \"%s\" is not one of an earlier reply: leave it out to begin anew".formatted(text));
			}
			Position after = (matcher.group(2) != null)
					? new Position(Long.parseLong(matcher.group(2)), matcher.group(3)) : null;
			return new Cursor(Long.parseLong(matcher.group(1)), after);
		}

		Cursor after(Position position) {
			return new Cursor(this.until, position);
		}

		@Override
		public String toString() {
			String text = this.until + "-";
			return (this.after != null) ? text + this.after.time() + "-" + this.after.id() : text;
		}

	}

	private record Step(List<String> ids, @Nullable String next) {

	}

}
