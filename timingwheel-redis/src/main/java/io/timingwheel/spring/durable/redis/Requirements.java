package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import io.timingwheel.spring.durable.store.NodeState;
import io.timingwheel.spring.durable.store.UnusableTaskStoreException;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import org.springframework.dao.DataAccessException;

/**
 * Checks at the start that tasks are safe in this Redis, on each primary of a Cluster,
 * and that the user may run the commands of a node.
 */
final class Requirements {

	private static final Log logger = LogFactory.getLog(Requirements.class);

	private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

	private static final String SAFE_POLICY = "noeviction";

	private static final String UNKNOWN = "unknown";

	/** How the tasks are written, as {@code prelude.lua} says, and in which partition. */
	private static final int FORMAT = 1;

	/** The texts differ between versions, and within scripts. */
	private static final Pattern REFUSED = Pattern.compile(
			"NOPERM|can't run this command|can't access|ACL failure|no permissions|unknown (redis )?command",
			Pattern.CASE_INSENSITIVE);

	private final StoreConnection connection;

	private final PartitionOutages outages;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	Requirements(StoreConnection connection, PartitionOutages outages, Partitions partitions,
			RedisStoreOptions options) {
		this.connection = connection;
		this.outages = outages;
		this.partitions = partitions;
		this.options = options;
	}

	void check() {
		if (this.options.waitReplicas() > 0 && this.connection.isList()) {
			throw new UnusableTaskStoreException(
					"timingwheel.store.redis.wait-replicas does not work with spring.data.redis.masterreplica.nodes",
					"use Sentinel or a Cluster, or set timingwheel.store.redis.wait-replicas=0");
		}
		try {
			infos().forEach(Requirements::checkSettings);
			checkRights();
			checkAgreed();
		}
		catch (DataAccessException ex) {
			if (isRefusal(ex)) {
				throw new UnusableTaskStoreException(
						"Redis does not let this user run what a node needs (%s)".formatted(message(ex)),
						"give the user the rights +@read +@write +@scripting +@connection +info +time%s, and ~timingwheel:{%s* for the keys"
							.formatted((this.options.waitReplicas() > 0) ? " +wait" : "", this.options.namespace()));
			}
			throw ex;
		}
	}

	private static boolean isRefusal(DataAccessException failure) {
		return REFUSED.matcher(message(failure)).find();
	}

	private static String message(DataAccessException failure) {
		return String.valueOf(failure.getMostSpecificCause().getMessage());
	}

	private List<String> infos() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		List<CompletionStage<String>> infos = (commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster)
				? List.of(cluster.upstream().commands().info().futures()) : List.of(commands.info());
		try {
			return infos.stream().map(this.connection::get).toList();
		}
		catch (DataAccessException ex) {
			if (!isRefusal(ex)) {
				throw ex;
			}
			logger.warn("Redis does not let this user run INFO (" + message(ex)
					+ "), so nobody checks that Redis has version 6.2 or newer, 'maxmemory-policy noeviction' and"
					+ " 'appendonly yes'. Give the user the right +info to have them checked");
			return List.of();
		}
	}

	private static void checkSettings(String info) {
		checkVersion(field(info, "redis_version"));
		String policy = field(info, "maxmemory_policy");
		if (!policy.equals(SAFE_POLICY) && !policy.equals(UNKNOWN)) {
			throw new UnusableTaskStoreException(
					"the maxmemory-policy of Redis is '" + policy
							+ "', so Redis may delete tasks when its memory is full",
					"set 'maxmemory-policy noeviction', or use a separate Redis for timingwheel.store.type=redis");
		}
		if (!field(info, "aof_enabled").equals("1")) {
			logger.warn("Redis has no append-only file: a restart may lose the tasks that were stored since its last"
					+ " snapshot. Set 'appendonly yes'");
		}
	}

	private static String field(String info, String name) {
		Matcher matcher = Pattern.compile("^" + name + ":(.*?)\\r?$", Pattern.MULTILINE).matcher(info);
		return matcher.find() ? matcher.group(1) : UNKNOWN;
	}

	static void checkVersion(String version) {
		Matcher matcher = VERSION.matcher(version);
		if (!matcher.matches()) {
			logger.warn("The version of Redis is " + version + ": timingwheel needs 6.2 or newer");
			return;
		}
		int major = Integer.parseInt(matcher.group(1));
		if (major < 6 || (major == 6 && Integer.parseInt(matcher.group(2)) < 2)) {
			throw new UnusableTaskStoreException(
					"timingwheel.store.type=redis needs Redis 6.2 or newer, but this Redis is " + version,
					"update Redis");
		}
	}

	/**
	 * Runs a script that reads and deletes, so that a missing right is found at the start
	 * and not with the first task. A Redis that is full lets it run.
	 */
	private void checkRights() {
		this.outages
			.run(Script.NODES.onEach(this.partitions, DelayedTaskStore.NODE_RETENTION, "", NodeState.Activity.ENDED, 0))
			.forEach(ScriptReply::size);
		if (this.options.waitReplicas() > 0) {
			this.connection.get(this.connection.commands().waitForReplication(0, 1));
		}
	}

	private void checkAgreed() {
		checkAgreed("format", FORMAT, "have format %s, and this version of timingwheel uses format %s",
				"use the version of timingwheel that has stored them, or another timingwheel.store.redis.namespace");
		checkAgreed("partitions", this.options.partitions(), "are spread over %s partitions, not %s",
				"set timingwheel.store.redis.partitions=%s, or start with a new timingwheel.store.redis.namespace");
	}

	private void checkAgreed(String name, int value, String difference, String remedy) {
		String expected = String.valueOf(value);
		String found = agreed(name, expected);
		if (!found.equals(expected)) {
			throw new UnusableTaskStoreException(
					"the tasks in the Redis namespace '%s' ".formatted(this.options.namespace())
							+ difference.formatted(found, expected),
					remedy.formatted(found));
		}
	}

	/** Reads a value, and writes it only if there is none, since Redis may be full. */
	private String agreed(String name, String expected) {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		byte[] key = this.partitions.key("meta");
		byte[] field = Partitions.bytes(name);
		byte[] found = this.connection.get(commands.hget(key, field));
		if (found == null) {
			this.connection.get(commands.hsetnx(key, field, Partitions.bytes(expected)));
			found = this.connection.get(commands.hget(key, field));
		}
		return new String(found, StandardCharsets.UTF_8);
	}

}
