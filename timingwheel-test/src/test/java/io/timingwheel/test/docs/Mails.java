package io.timingwheel.test.docs;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.task.DelayedTaskContext;

/**
 * Sends each reminder once, however often its task is delivered.
 */
class Mails {

	private final List<String> deliveries = new ArrayList<>();

	private final Set<String> sent = new LinkedHashSet<>();

	@Delayed(delay = "1d", name = "remind", key = "#user", durable = true)
	void remind(String user) {
		DelayedTaskContext task = DelayedTaskContext.current().orElseThrow();
		this.deliveries.add(task.deliveries() + " of attempt " + task.attempt());
		this.sent.add(task.id());
	}

	List<String> deliveries() {
		return this.deliveries;
	}

	Set<String> sent() {
		return this.sent;
	}

	void clear() {
		this.deliveries.clear();
		this.sent.clear();
	}

}
