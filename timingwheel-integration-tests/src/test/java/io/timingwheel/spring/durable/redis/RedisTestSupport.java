package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.timingwheel.spring.durable.store.ClaimRequest;
import io.timingwheel.spring.durable.store.ClaimRequest.Claimed;
import io.timingwheel.spring.durable.store.ClaimRequest.Share;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Enqueued;
import io.timingwheel.spring.durable.store.DelayedTaskStore.Reply;
import io.timingwheel.spring.durable.store.DueTime;
import io.timingwheel.spring.durable.store.LeasedTask;
import io.timingwheel.spring.durable.store.NewTask;
import io.timingwheel.spring.durable.store.Settlement;
import io.timingwheel.spring.durable.store.Target;
import io.timingwheel.spring.durable.store.Target.Kind;
import io.timingwheel.spring.task.IfPending;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

/** Calls of applications and nodes on a store. */
abstract class RedisTestSupport {

	static final String NAME = "close-order";

	static final Duration NOW = Duration.ZERO;

	static final Duration HOUR = Duration.ofHours(1);

	/** Longer than a test takes, even if the machine stalls for some time. */
	static final Duration LEASE = Duration.ofMinutes(5);

	static final Duration LOOK_AHEAD = Duration.ofMinutes(2);

	static NewTask task(@Nullable String key, Duration delay) {
		return task(NAME, key, delay);
	}

	static NewTask task(String name, @Nullable String key, Duration delay) {
		String id = UUID.randomUUID().toString();
		return new NewTask(id, name, key, "payload of " + id, null, DueTime.after(delay), IfPending.REPLACE, null);
	}

	static Enqueued enqueue(DelayedTaskStore store, @Nullable String key, Duration delay) {
		return store.enqueue(List.of(task(key, delay))).get(0);
	}

	static Target key(String key) {
		return Target.of(new TaskId(NAME, key), Kind.EITHER);
	}

	static ClaimRequest request(int limit, String... names) {
		Map<String, Share> shares = new HashMap<>();
		Arrays.asList(names).forEach((name) -> shares.put(name, new Share(limit, limit)));
		return request(limit, shares);
	}

	static ClaimRequest request(int limit, Map<String, Share> shares) {
		return new ClaimRequest("a", shares, limit, false, LOOK_AHEAD, LEASE, Long.MAX_VALUE);
	}

	static Claimed claim(DelayedTaskStore store, int limit) {
		return store.claim(request(limit, NAME));
	}

	static LeasedTask running(DelayedTaskStore store, @Nullable String key) {
		String id = enqueue(store, key, NOW).id();
		return claim(store, 100).tasks().stream().filter((task) -> task.id().equals(id)).findFirst().orElseThrow();
	}

	static Reply settle(DelayedTaskStore store, Settlement settlement) {
		return store.settle(List.of(settlement)).get(0);
	}

	static Reply acknowledge(DelayedTaskStore store, LeasedTask task) {
		return settle(store, new Settlement.Acknowledge(task.ref()));
	}

	static List<Reply> acknowledge(DelayedTaskStore store, List<LeasedTask> tasks) {
		return store.settle(tasks.stream().<Settlement>map((task) -> new Settlement.Acknowledge(task.ref())).toList());
	}

	static Reply bury(DelayedTaskStore store, LeasedTask task) {
		return settle(store, new Settlement.Bury(task.ref(), "hopeless"));
	}

}
