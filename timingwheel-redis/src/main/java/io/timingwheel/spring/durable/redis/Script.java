package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

import io.lettuce.core.codec.Base16;

import org.springframework.core.io.ClassPathResource;

/**
 * The scripts, each with what all have in common in front of it.
 */
enum Script {

	ENQUEUE, CANCEL, RESCHEDULE, CLAIM, BEGIN, RENEW, ACKNOWLEDGE, RETRY, RELEASE, BURY, FIND, LIST, COUNTS, REQUEUE,
	DISCARD, NOW;

	private final byte[] source = Partitions.bytes(read("common") + read(name().toLowerCase(Locale.ROOT)));

	private final String digest = Base16.digest(this.source);

	byte[] source() {
		return this.source;
	}

	/**
	 * By which Redis knows it once it was given the source.
	 */
	String digest() {
		return this.digest;
	}

	private static String read(String name) {
		try {
			return new ClassPathResource(name + ".lua", Script.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
