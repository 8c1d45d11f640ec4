package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A call of a script on a partition.
 *
 * @param script the script
 * @param partition the partition
 * @param arguments its arguments, the clock offset first
 */
record ScriptCall(Script script, int partition, List<byte[]> arguments) {

	static ScriptCall of(Script script, int partition, Object... arguments) {
		return new ScriptCall(script, partition, new ArrayList<>()).with(arguments);
	}

	/**
	 * Adds arguments: bytes, text, numbers, flags; nothing is empty text.
	 */
	ScriptCall with(@Nullable Object... values) {
		for (Object value : values) {
			this.arguments.add(bytes(value));
		}
		return this;
	}

	private static byte[] bytes(@Nullable Object value) {
		if (value instanceof byte[] bytes) {
			return bytes;
		}
		if (value instanceof Boolean flag) {
			return Partitions.bytes(flag ? "1" : "0");
		}
		return Partitions.bytes((value != null) ? value.toString() : "");
	}

}
