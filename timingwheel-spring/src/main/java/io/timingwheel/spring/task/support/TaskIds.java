package io.timingwheel.spring.task.support;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Ids that are never reused: a number, and a prefix that tells this JVM's run from
 * others. Only the number is kept.
 */
final class TaskIds {

	private final String prefix = "%08x-".formatted(ThreadLocalRandom.current().nextInt());

	private final AtomicLong sequence = new AtomicLong();

	long next() {
		return this.sequence.incrementAndGet();
	}

	String text(long sequence) {
		return this.prefix + sequence;
	}

	/**
	 * The number in an id.
	 * @param id the id
	 * @return the number, 0 if the id is not one of ours
	 */
	long parse(String id) {
		if (!id.startsWith(this.prefix)) {
			return 0;
		}
		try {
			return Long.parseLong(id, this.prefix.length(), id.length(), 10);
		}
		catch (NumberFormatException ex) {
			return 0;
		}
	}

}
