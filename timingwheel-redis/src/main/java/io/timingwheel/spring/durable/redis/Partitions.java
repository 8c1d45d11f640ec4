package io.timingwheel.spring.durable.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * The partitions of a namespace, their keys in Redis, and the partition of each task. The
 * name and key decide the partition of a task with a key. A task without a key can be in
 * any partition. The id that callers see ends with a point and the number of the
 * partition. Thread-safe.
 */
final class Partitions {

	/** The id in the partition, a point, and the number of the partition. */
	private static final Pattern ID = Pattern.compile("([^+].*)\\.(\\d{1,4})", Pattern.DOTALL);

	private final int count;

	private final byte[][][] keys;

	private final String namespace;

	Partitions(String namespace, int count) {
		this.count = count;
		this.namespace = namespace;
		this.keys = new byte[count][][];
		for (int partition = 0; partition < count; partition++) {
			String prefix = prefix(namespace, partition);
			this.keys[partition] = new byte[][] { bytes(prefix + "tasks"), bytes(prefix + "index"),
					bytes(prefix + "holders") };
		}
	}

	int count() {
		return this.count;
	}

	/**
	 * The keys of a partition in the order that {@code parts/model.lua} expects: tasks,
	 * index, holders.
	 */
	byte[][] keys(int partition) {
		return this.keys[partition];
	}

	/**
	 * The keys of a name whose starts are limited, in the slot of a partition: its
	 * places, and the hash with the rates of such names.
	 */
	List<byte[]> limitKeys(int partition, String name) {
		String prefix = prefix(this.namespace, partition);
		return List.of(bytes(prefix + "places:" + name), bytes(prefix + "limits"));
	}

	/**
	 * A key in the slot of a partition that holds nothing.
	 */
	byte[] unusedKey(int partition) {
		return bytes(prefix(this.namespace, partition) + "check");
	}

	private static String prefix(String namespace, int partition) {
		return "timingwheel:{" + namespace + ":" + partition + "}:";
	}

	/**
	 * The partition for a value.
	 * @param value the {@link #holderField} of a task with a key, the id of a task
	 * without a key, or a limited name
	 */
	int of(byte[] value) {
		CRC32 hash = new CRC32();
		hash.update(value);
		return (int) (hash.getValue() % this.count);
	}

	/**
	 * Splits an id that callers see.
	 * @return {@code null} for an id that this store never gave. No id in a partition
	 * begins with a plus sign, which marks the field of what has changed of a task
	 */
	@Nullable StoredId locate(String id) {
		Matcher matcher = ID.matcher(id);
		if (!matcher.matches()) {
			return null;
		}
		int partition = Integer.parseInt(matcher.group(2));
		return (partition < this.count) ? new StoredId(partition, matcher.group(1)) : null;
	}

	/**
	 * The field of the hash {@code holders} for a name and key: the length of the name in
	 * one byte, the name, the key.
	 * @throws IllegalArgumentException if the name is longer than the name of any task
	 */
	static byte[] holderField(TaskId id) {
		byte[] name = bytes(id.name());
		byte[] key = bytes(id.key());
		Assert.isTrue(name.length <= DelayedTaskStore.MAX_NAME_BYTES,
				() -> "The name of a task has %d bytes of UTF-8, and may have %d".formatted(name.length,
						DelayedTaskStore.MAX_NAME_BYTES));
		return ByteBuffer.allocate(1 + name.length + key.length).put((byte) name.length).put(name).put(key).array();
	}

	/**
	 * Sorts names as the index does: by the number of their bytes, then by the bytes.
	 */
	static List<String> inIndexOrder(Collection<String> names) {
		Map<String, byte[]> bytes = new HashMap<>();
		names.forEach((name) -> bytes.put(name, bytes(name)));
		return bytes.entrySet()
			.stream()
			.sorted(Map.Entry.comparingByValue(
					Comparator.<byte[]>comparingInt((name) -> name.length).thenComparing(Arrays::compareUnsigned)))
			.map(Map.Entry::getKey)
			.toList();
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * The id that callers see.
	 * @param id the id in the partition
	 */
	static String publicId(int partition, String id) {
		return id + "." + partition;
	}

	/**
	 * The id that the partition of a task knows.
	 * @param id the id that callers see, or another text
	 */
	static String localId(String id) {
		int point = id.lastIndexOf('.');
		return (point > 0) ? id.substring(0, point) : id;
	}

	/**
	 * The parts of an id that callers see.
	 *
	 * @param partition the partition of the task
	 * @param id the id of the task in that partition
	 */
	record StoredId(int partition, String id) {

	}

}
