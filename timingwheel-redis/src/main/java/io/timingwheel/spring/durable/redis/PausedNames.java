package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.lettuce.core.RedisFuture;
import io.timingwheel.spring.durable.store.TaskLimits;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * The names that are paused for all nodes. Each partition has a copy of the set, which a
 * claim reads. After a copy without {@link #MARK}, which has lost its data, all copies
 * get the names that this node has read last. Thread-safe.
 */
final class PausedNames {

	/** A member of each copy. No name is like this. */
	static final String MARK = "\0";

	private static final Log logger = LogFactory.getLog(PausedNames.class);

	private final StoreConnection connection;

	private final Partitions partitions;

	private volatile Set<String> known = Set.of();

	/** {@code null} until this node has checked them. */
	private volatile @Nullable Requirements requirements;

	PausedNames(StoreConnection connection, Partitions partitions) {
		this.connection = connection;
		this.partitions = partitions;
	}

	/**
	 * Pauses or resumes a name in all partitions.
	 * @throws RuntimeException if one of them has failed; the others have the change
	 */
	void set(String name, boolean paused) {
		TaskLimits.checkName(name);
		byte[] member = Partitions.bytes(name);
		List<RedisFuture<Long>> replies = new ArrayList<>();
		for (int partition : this.partitions.all()) {
			byte[] key = this.partitions.paused(partition);
			replies.add(paused ? this.connection.commands().sadd(key, member)
					: this.connection.commands().srem(key, member));
		}
		replies.forEach(this.connection::get);
	}

	/**
	 * Stores the mark where it is missing, and restores lost copies from now on.
	 * @param claims replies of claims of all partitions
	 */
	void restoreIfLost(Requirements requirements, List<ScriptReply> claims) {
		store(claims.stream()
			.filter((claim) -> !claim.list(1).texts().contains(MARK))
			.map(ScriptReply::partition)
			.toList(), Set.of());
		this.requirements = requirements;
	}

	Set<String> learn(List<List<String>> copies) {
		Set<String> names = new HashSet<>();
		copies.forEach(names::addAll);
		names.remove(MARK);
		Requirements requirements = this.requirements;
		if (requirements != null && copies.stream().anyMatch((copy) -> !copy.contains(MARK))) {
			names.addAll(this.known);
			restore(requirements, names);
		}
		this.known = Set.copyOf(names);
		return this.known;
	}

	private void restore(Requirements requirements, Set<String> names) {
		try {
			requirements.checkAgreed();
			store(this.partitions.all(), names);
			logger.warn("Redis had lost data, and the settings of the namespace are stored again"
					+ (names.isEmpty() ? "" : ", with the pauses of " + names));
		}
		catch (DataAccessException ex) {
			logger.debug("The next claim finds the lost data again", ex);
		}
	}

	void clear() {
		this.known = Set.of();
		store(this.partitions.all(), Set.of());
	}

	private void store(Collection<Integer> partitions, Set<String> names) {
		List<byte[]> members = new ArrayList<>(List.of(Partitions.bytes(MARK)));
		names.forEach((name) -> members.add(Partitions.bytes(name)));
		partitions.stream()
			.map((partition) -> this.connection.commands()
				.sadd(this.partitions.paused(partition), members.toArray(byte[][]::new)))
			.toList()
			.forEach(this.connection::get);
	}

}
