package io.timingwheel.spring.durable.store.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.ListQuery;
import io.timingwheel.spring.durable.store.NewSchedule;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.StoredTask;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the classes of the contract have in common: two nodes on one store, and a clock
 * that stands still until the test moves it. {@link StoreContractTests} has them all.
 *
 * @since 0.1
 */
public abstract class StoreContract {

	/** The name of most tasks. */
	protected static final String NAME = "close-order";

	/** A delay within the look-ahead of the nodes. */
	protected static final Duration SOON = Duration.ofSeconds(90);

	/** A delay beyond the look-ahead and the lease of the nodes. */
	protected static final Duration HOUR = Duration.ofHours(1);

	/** No delay. */
	protected static final Duration NOW = Duration.ZERO;

	/** After this time, the leases of tasks that are due soon have ended. */
	protected static final Duration LEASES_OVER = SOON.plus(StoreNode.LEASE).plusSeconds(1);

	/** The text of most schedules. */
	protected static final String HOURLY = "every(PT1H)";

	/** The clock of the store, in milliseconds since the epoch. */
	protected final AtomicLong clock = new AtomicLong(System.currentTimeMillis());

	private final List<DelayedTaskStore> opened = new ArrayList<>();

	/** The first node. */
	protected StoreNode a;

	/** The second node. */
	protected StoreNode b;

	@BeforeEach
	void openNodes() throws Exception {
		this.a = openNode("a");
		this.b = openNode("b");
		this.a.store().testing().deleteAll();
	}

	@AfterEach
	void closeStores() throws Exception {
		for (DelayedTaskStore store : this.opened) {
			if (store instanceof AutoCloseable closeable) {
				closeable.close();
			}
		}
	}

	/**
	 * Opens a store object as a node does at its start. All objects of a test class share
	 * their tasks. The tests delete all tasks, and after each test they close the objects
	 * that are {@link AutoCloseable}.
	 * @return another store object
	 * @throws Exception if the store cannot be opened
	 */
	protected abstract DelayedTaskStore openStore() throws Exception;

	private StoreNode openNode(String owner) throws Exception {
		DelayedTaskStore store = openStore();
		this.opened.add(store);
		store.testing().setClock(this.clock::get);
		return new StoreNode(owner, store);
	}

	/**
	 * Moves the clock of the store on.
	 * @param time how far
	 */
	protected final void later(Duration time) {
		this.clock.addAndGet(time.toMillis());
	}

	/**
	 * The time by the clock of the store.
	 * @return milliseconds since the epoch
	 */
	protected final long now() {
		return this.clock.get();
	}

	/**
	 * The time after a delay from now.
	 * @param delay the delay
	 * @return milliseconds since the epoch
	 */
	protected final long in(Duration delay) {
		return now() + delay.toMillis();
	}

	static DueTime at(long time) {
		return new DueTime(time, true);
	}

	static Target id(String id) {
		return Target.of(id);
	}

	static Target id(LeasedTask task) {
		return Target.of(task.id());
	}

	static Target key(String key) {
		return Target.of(new TaskId(NAME, key), Kind.EITHER);
	}

	static Target once(String key) {
		return Target.of(new TaskId(NAME, key), Kind.ONCE);
	}

	static Target schedule(String key) {
		return Target.of(new TaskId(NAME, key), Kind.SCHEDULE);
	}

	static NewTask task(@Nullable String key, Duration delay) {
		return task(key, delay, IfPending.REPLACE);
	}

	static NewTask task(@Nullable String key, Duration delay, IfPending ifPending) {
		return task(NAME, key, DueTime.after(delay), ifPending);
	}

	static NewTask task(@Nullable String key, DueTime due) {
		return task(NAME, key, due, IfPending.REPLACE);
	}

	static NewTask taskOf(String name, Duration delay) {
		return task(name, null, DueTime.after(delay), IfPending.REPLACE);
	}

	static NewTask task(String name, @Nullable String key, DueTime due, IfPending ifPending) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, name, key, "payload of " + id, null, due, ifPending, null);
	}

	/**
	 * The payload of a task that {@link #task} has made. The store may have made the id
	 * longer.
	 */
	static String payloadOf(String id) {
		return "payload of " + id.substring(0, 36);
	}

	static NewSchedule newSchedule(String key, String text, Duration first) {
		return new NewSchedule(UUID.randomUUID().toString(), NAME, key, "payload of a run", text, DueTime.after(first),
				false);
	}

	/** Stores a task with a key by the first node. */
	final Enqueued enqueue(@Nullable String key, Duration delay) {
		return this.a.enqueue(task(key, delay));
	}

	/** A new task that the first node has leased, and that has not begun. */
	final LeasedTask leased(@Nullable String key) {
		return claimed(enqueue(key, SOON));
	}

	/** A new task that the first node runs. */
	final LeasedTask running(@Nullable String key) {
		return claimed(enqueue(key, NOW));
	}

	/** The run of a new hourly schedule, which the first node runs. */
	final LeasedTask runningSchedule(String key) {
		return claimed(this.a.store().recur(newSchedule(key, HOURLY, NOW)));
	}

	private LeasedTask claimed(Enqueued task) {
		return this.a.claim()
			.stream()
			.filter((claimed) -> claimed.id().equals(task.id()))
			.findFirst()
			.orElseThrow(() -> new AssertionError("The claim does not have the task"));
	}

	/** The only suspect, claimed by a node. */
	static LeasedTask suspect(StoreNode node) {
		LeasedTask task = node.claimSuspect();
		if (task == null) {
			throw new AssertionError("There is no suspect");
		}
		return task;
	}

	/** Reads a listing page by page. */
	static List<StoredTask> pages(DelayedTaskStore store, ListQuery first) {
		List<StoredTask> tasks = new ArrayList<>();
		ListQuery query = first;
		ListQuery.Page page;
		do {
			page = store.list(query);
			assertThat(page.tasks()).hasSizeBetween(page.more() ? first.limit() : 0, first.limit());
			tasks.addAll(page.tasks());
			if (page.more()) {
				StoredTask last = page.tasks().get(first.limit() - 1);
				query = new ListQuery(first.name(), first.order(), last.position(), first.limit());
			}
		}
		while (page.more());
		return tasks;
	}

	/** Repeats a call until no lock on the task prevents it. */
	static Reply patiently(Supplier<Reply> call) {
		Reply reply = call.get();
		while (reply == Reply.BUSY) {
			Thread.onSpinWait();
			reply = call.get();
		}
		return reply;
	}

}
