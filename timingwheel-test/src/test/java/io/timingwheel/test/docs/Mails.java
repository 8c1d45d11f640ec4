package io.timingwheel.test.docs;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskContext;

/** Sends each reminder once, however often its task is delivered. */
class Mails {

	private final List<String> deliveries = new ArrayList<>();

	/** The users by the ids of the tasks. */
	private final Map<String, String> sent = new LinkedHashMap<>();

	@Delayed(delay = "1d", name = "remind", key = "#user", durable = true)
	void remind(String user) {
		DelayedTaskContext task = DelayedTaskContext.current().orElseThrow();
		this.deliveries.add(task.deliveries() + " of attempt " + task.attempt());
		this.sent.put(task.id(), user);
	}

	List<String> deliveries() {
		return this.deliveries;
	}

	Map<String, String> sent() {
		return this.sent;
	}

	void clear() {
		this.deliveries.clear();
		this.sent.clear();
	}

}
