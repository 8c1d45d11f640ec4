package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

import org.jspecify.annotations.Nullable;

/**
 * The partitions of a namespace, and their keys in Redis. All tasks of a name are in one
 * partition. The id that callers see ends with a point and the number of the partition.
 * Immutable.
 */
final class Partitions {

	private static final Pattern ID = Pattern.compile("(.+)\\.(\\d{1,4})", Pattern.DOTALL);

	private final int count;

	private final byte[][][] keys;

	private final String namespace;

	Partitions(String namespace, int count) {
		this.count = count;
		this.namespace = namespace;
		List<String> names = List.of("heads", "bodies", "index", "holders", "paused", "starts", "nodes");
		this.keys = all().stream()
			.map((partition) -> names.stream().map((name) -> key(partition, name)).toArray(byte[][]::new))
			.toArray(byte[][][]::new);
	}

	int count() {
		return this.count;
	}

	List<Integer> all() {
		return IntStream.range(0, this.count).boxed().toList();
	}

	/** The keys of a partition in the order that {@code prelude.lua} expects. */
	byte[][] keys(int partition) {
		return this.keys[partition];
	}

	byte[] paused(int partition) {
		return this.keys[partition][4];
	}

	/** A key in the slot of a partition. */
	byte[] key(int partition, String name) {
		return bytes("timingwheel:{" + this.namespace + ":" + partition + "}:" + name);
	}

	byte[] key(String name) {
		return bytes("timingwheel:{" + this.namespace + "}:" + name);
	}

	/** The partition of a name, or of a node. */
	int of(String name) {
		CRC32 hash = new CRC32();
		hash.update(bytes(name));
		return (int) (hash.getValue() % this.count);
	}

	/** Splits an id of callers, {@code null} for one that this store never gave. */
	@Nullable StoredId locate(String id) {
		Matcher matcher = ID.matcher(id);
		if (!matcher.matches()) {
			return null;
		}
		int partition = Integer.parseInt(matcher.group(2));
		return (partition < this.count) ? new StoredId(partition, matcher.group(1)) : null;
	}

	static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

	static String publicId(int partition, String id) {
		return id + "." + partition;
	}

	/** The id that the partition of a task knows. */
	static String localId(String id) {
		int point = id.lastIndexOf('.');
		return (point > 0) ? id.substring(0, point) : id;
	}

	record StoredId(int partition, String id) {

	}

}
