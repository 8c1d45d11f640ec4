package io.timingwheel.spring.durable.support;

import java.security.SecureRandom;
import java.util.UUID;

/**
 * Makes the ids of durable tasks: UUIDs of version 7 (RFC 9562), which begin with the
 * time, so that new rows stand side by side in an index. The clock of the node is good
 * enough for that.
 */
public final class DurableIds {

	private static final SecureRandom random = new SecureRandom();

	private DurableIds() {
	}

	public static String next() {
		long high = (System.currentTimeMillis() << 16) | 0x7000L | (random.nextLong() & 0xFFFL);
		long low = (random.nextLong() >>> 2) | 0x8000000000000000L;
		return new UUID(high, low).toString();
	}

}
