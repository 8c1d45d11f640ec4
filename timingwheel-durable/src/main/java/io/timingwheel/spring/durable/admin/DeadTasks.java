package io.timingwheel.spring.durable.admin;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.regex.Pattern;

import io.timingwheel.spring.actuate.internal.RefusedRequest;
import io.timingwheel.spring.actuate.internal.StoredTasks;
import io.timingwheel.spring.actuate.internal.StoredTasks.DeadSelection;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.DeadDescriptor;
import io.timingwheel.spring.actuate.internal.TaskDescriptors.StepDescriptor;
import io.timingwheel.spring.actuate.internal.TaskView;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Requeue;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.ListQuery.Order;
import io.timingwheel.spring.durable.store.ListQuery.Page;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.task.memory.MemoryTaskReader.PendingTaskSnapshot.Position;
import org.jspecify.annotations.Nullable;

/**
 * Requeues, deletes and groups dead tasks. A call reads one page and filters it here,
 * since no index finds a part of a text. The caller goes on with the cursor. Thread-safe.
 *
 * @param pages reads a page of the tasks under all names of a method
 * @param requeue makes dead tasks pending, and tells the node
 */
public record DeadTasks(DelayedTaskStore store, Function<ListQuery, Page> pages,
		Function<List<String>, List<Requeue>> requeue) implements StoredTasks.Dead {

	/** How many dead tasks a call groups at most. */
	private static final int MAX_EXAMINED = 2000;

	private static final Predicate<String> GROUP = Pattern.compile("[0-9a-f]{32}").asMatchPredicate();

	/**
	 * Begins with the latest deaths, and so never meets those that die again meanwhile.
	 */
	@Override
	public StepDescriptor change(String name, boolean requeue, DeadSelection which, @Nullable String cursor) {
		Predicate<@Nullable String> filter = filter(which);
		Page page = read(name, cursor, DelayedTaskStore.MAX_STEP);
		List<String> ids = page.tasks()
			.stream()
			.filter((task) -> filter.test(task.error()))
			.map(StoredTask::id)
			.toList();
		String next = next(page.tasks(), page.more());
		if (!requeue && !ids.isEmpty()) {
			return new StepDescriptor(this.store.discard(ids), 0, next != null, next);
		}
		List<Requeue> results = ids.isEmpty() ? List.of() : this.requeue.apply(ids);
		return new StepDescriptor(Collections.frequency(results, Requeue.REQUEUED),
				Collections.frequency(results, Requeue.KEY_PENDING), next != null, next);
	}

	/** Reads a page, the first one without a cursor. */
	private Page read(String name, @Nullable String cursor, int limit) {
		Position after = (cursor != null) ? TaskView.position(cursor) : null;
		return this.pages.apply(new ListQuery(name, Order.DEAD_LATEST_FIRST, OperatedTasks.place(after), limit));
	}

	@Override
	public DeadDescriptor byError(String name, @Nullable String cursor) {
		Page page = read(name, cursor, MAX_EXAMINED);
		Map<String, List<StoredTask>> groups = new LinkedHashMap<>();
		int examined = 0;
		for (StoredTask task : page.tasks()) {
			String error = begin(task.error());
			if (groups.size() == DeadDescriptor.MAX_GROUPS && !groups.containsKey(error)) {
				break;
			}
			groups.computeIfAbsent(error, (absent) -> new ArrayList<>()).add(task);
			examined++;
		}
		String next = next(page.tasks().subList(0, examined), page.more() || examined < page.tasks().size());
		return new DeadDescriptor(name,
				groups.entrySet().stream().map((group) -> describe(group.getKey(), group.getValue())).toList(),
				examined, next == null && cursor == null, next);
	}

	private static DeadDescriptor.Group describe(String error, List<StoredTask> tasks) {
		StoredTask latest = tasks.get(0);
		return new DeadDescriptor.Group(error, groupOf(error), tasks.size(), diedAt(tasks.get(tasks.size() - 1)),
				diedAt(latest), latest.id());
	}

	private static Instant diedAt(StoredTask task) {
		return Instant.ofEpochMilli(task.position().time());
	}

	private static String begin(@Nullable String error) {
		return DeadDescriptor.beginOf(Objects.requireNonNullElse(error, ""));
	}

	/** The cursor after the last of some tasks, {@code null} if there are no more. */
	private static @Nullable String next(List<StoredTask> tasks, boolean more) {
		if (!more || tasks.isEmpty()) {
			return null;
		}
		StoredTask last = tasks.get(tasks.size() - 1);
		return TaskView.cursor(diedAt(last), last.id());
	}

	/**
	 * @throws RefusedRequest if the selection has no id of a group
	 */
	private static Predicate<@Nullable String> filter(DeadSelection which) {
		String group = which.group();
		if (group != null) {
			String known = RefusedRequest.read(group, Function.identity(), GROUP,
					"The group \"%s\" is not one of an earlier reply: read the groups again".formatted(group));
			return (error) -> known.equals(groupOf(begin(error)));
		}
		String text = which.text();
		return (error) -> text == null || (error != null && error.contains(text));
	}

	/**
	 * The same on all nodes. Does not show the error, but who can guess it can check the
	 * guess.
	 */
	private static String groupOf(String begin) {
		try {
			MessageDigest digest = MessageDigest.getInstance("SHA-256");
			return HexFormat.of().formatHex(digest.digest(begin.getBytes(StandardCharsets.UTF_8)), 0, 16);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Each JVM has SHA-256", ex);
		}
	}

}
