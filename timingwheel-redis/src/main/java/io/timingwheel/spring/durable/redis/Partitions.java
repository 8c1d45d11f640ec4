package io.timingwheel.spring.durable.redis;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.task.TaskId;
import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;

/**
 * Which task is in which partition: a keyed one by its name and key, any other by its id.
 * The id that the world sees ends in a point and the number of the partition.
 */
final class Partitions {

	private final int count;

	private final byte[][][] keys;

	Partitions(String namespace, int count) {
		this.count = count;
		this.keys = new byte[count][][];
		for (int partition = 0; partition < count; partition++) {
			String prefix = "timingwheel:{" + namespace + ":" + partition + "}:";
			this.keys[partition] = new byte[][] { bytes(prefix + "tasks"), bytes(prefix + "index"),
					bytes(prefix + "holders") };
		}
	}

	int count() {
		return this.count;
	}

	/**
	 * The keys of a partition, as all scripts expect them.
	 */
	byte[][] keys(int partition) {
		return this.keys[partition];
	}

	int of(byte[] value) {
		CRC32 hash = new CRC32();
		hash.update(value);
		return (int) (hash.getValue() % this.count);
	}

	/**
	 * The partition and the name under which it has the task, {@code null} for an id that
	 * is none of ours.
	 */
	@Nullable StoredId locate(String id) {
		int point = id.lastIndexOf('.');
		if (point < 1 || !id.substring(point + 1).matches("\\d{1,4}")) {
			return null;
		}
		int partition = Integer.parseInt(id.substring(point + 1));
		return (partition < this.count) ? new StoredId(partition, id.substring(0, point)) : null;
	}

	/**
	 * The field that tells which pending task has a key.
	 * @throws IllegalArgumentException if the name is too long for any task
	 */
	static byte[] holding(TaskId id) {
		byte[] name = bytes(id.name());
		byte[] key = bytes(id.key());
		// Its length is to fit into a byte.
		Assert.isTrue(name.length <= DelayedTaskStore.MAX_NAME_BYTES,
				() -> "The name of a task has %d bytes of UTF-8, and may have %d".formatted(name.length,
						DelayedTaskStore.MAX_NAME_BYTES));
		return ByteBuffer.allocate(1 + name.length + key.length).put((byte) name.length).put(name).put(key).array();
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static String publicId(int partition, String id) {
		return id + "." + partition;
	}

	/**
	 * Where a task is.
	 *
	 * @param partition its partition
	 * @param id its id there
	 */
	record StoredId(int partition, String id) {

	}

}
