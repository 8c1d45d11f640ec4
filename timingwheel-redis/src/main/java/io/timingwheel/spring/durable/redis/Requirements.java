package io.timingwheel.spring.durable.redis;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.cluster.api.async.RedisAdvancedClusterAsyncCommands;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.timingwheel.spring.durable.UnusableTaskStoreException;
import io.timingwheel.spring.durable.redis.Script.Call;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;

/**
 * Checks that tasks are safe in this Redis, and that the user may run the commands of a
 * node. Checks each primary of a Cluster. Logs a warning for each setting that Redis does
 * not report.
 */
final class Requirements {

	private static final Log logger = LogFactory.getLog(Requirements.class);

	private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+).*");

	private static final String SAFE_POLICY = "noeviction";

	/** How the tasks are written: a field for each task, and one for what has changed. */
	private static final int FORMAT = 2;

	/** The field of a random value, which tells whether Redis has lost its data since. */
	private static final String INSTANCE = "instance";

	/**
	 * What Redis says to a user without a right, and to all users of a command that is
	 * switched off. The texts differ between versions, and within scripts.
	 */
	private static final Pattern REFUSED = Pattern.compile(
			"NOPERM|can't run this command|can't access|ACL failure|no permissions|unknown (redis )?command",
			Pattern.CASE_INSENSITIVE);

	private final StoreConnection connection;

	private final ScriptRunner scripts;

	private final Partitions partitions;

	private final RedisStoreOptions options;

	private volatile String instance = "";

	Requirements(StoreConnection connection, ScriptRunner scripts, Partitions partitions, RedisStoreOptions options) {
		this.connection = connection;
		this.scripts = scripts;
		this.partitions = partitions;
		this.options = options;
	}

	void check() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		checkSettings(commands);
		try {
			checkCommands(commands);
			checkAgreed(commands);
		}
		catch (DataAccessException ex) {
			throw isRefusal(ex) ? refused(String.valueOf(ex.getMostSpecificCause().getMessage())) : ex;
		}
	}

	private void checkSettings(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		List<String> infos;
		try {
			infos = infos(commands);
		}
		catch (DataAccessException ex) {
			if (!isRefusal(ex)) {
				throw ex;
			}
			logger.warn("Redis does not let this user run INFO (" + ex.getMostSpecificCause().getMessage()
					+ "), so nobody checks that Redis has version 6.2 or newer, 'maxmemory-policy noeviction' and"
					+ " 'appendonly yes'. Give the user the right +info to have them checked");
			return;
		}
		for (String info : infos) {
			checkVersion(field(info, "redis_version"));
			checkPolicy(field(info, "maxmemory_policy"));
			checkPersistence(field(info, "aof_enabled"));
		}
	}

	/**
	 * Runs each command that a node runs. A Redis that is full refuses to write, and a
	 * node may start nevertheless.
	 */
	private void checkCommands(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		List<Call> calls = IntStream.range(0, this.partitions.count())
			.mapToObj((partition) -> Script.CHECK.on(partition).withKeys(List.of(this.partitions.unusedKey(partition))))
			.toList();
		for (ScriptReply reply : this.scripts.run(calls)) {
			for (int i = 0; i < reply.size(); i++) {
				String error = reply.text(i);
				if (REFUSED.matcher(error).find()) {
					throw refused(error);
				}
			}
		}
		// The runner needs EVAL only for a script that Redis does not know yet.
		this.connection.get(commands.eval("return 1", ScriptOutputType.INTEGER));
		if (this.options.waitReplicas() > 0) {
			this.connection.get(commands.waitForReplication(0, 1));
		}
	}

	private static boolean isRefusal(DataAccessException failure) {
		return REFUSED.matcher(String.valueOf(failure.getMostSpecificCause().getMessage())).find();
	}

	private UnusableTaskStoreException refused(String error) {
		return new UnusableTaskStoreException(
				"Redis does not let this user run what a node needs (%s)".formatted(error),
				"give the user the rights +@read +@write +@scripting +@connection +info +time%s, and ~timingwheel:{%s* for the keys"
					.formatted((this.options.waitReplicas() > 0) ? " +wait" : "", this.options.namespace()));
	}

	private List<String> infos(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		List<CompletionStage<String>> infos = new ArrayList<>();
		if (commands instanceof RedisAdvancedClusterAsyncCommands<byte[], byte[]> cluster) {
			cluster.upstream().commands().info().forEach(infos::add);
		}
		else {
			infos.add(commands.info());
		}
		return infos.stream().map(this.connection::get).toList();
	}

	private static @Nullable String field(String info, String name) {
		Matcher matcher = Pattern.compile("^" + name + ":(.*?)\\r?$", Pattern.MULTILINE).matcher(info);
		return matcher.find() ? matcher.group(1) : null;
	}

	static void checkVersion(@Nullable String version) {
		Matcher matcher = VERSION.matcher((version != null) ? version : "");
		if (!matcher.matches()) {
			logger.warn("Redis does not report its version: timingwheel needs 6.2 or newer");
			return;
		}
		int major = Integer.parseInt(matcher.group(1));
		if (major < 6 || (major == 6 && Integer.parseInt(matcher.group(2)) < 2)) {
			throw new UnusableTaskStoreException(
					"timingwheel.store.type=redis needs Redis 6.2 or newer, but this Redis is " + version,
					"update Redis");
		}
	}

	private static void checkPolicy(@Nullable String policy) {
		if (policy == null) {
			logger.warn("Redis does not report its maxmemory-policy: tasks may disappear unless it is 'noeviction'");
		}
		else if (!policy.equals(SAFE_POLICY)) {
			throw new UnusableTaskStoreException(
					"the maxmemory-policy of Redis is '" + policy
							+ "', so Redis may delete tasks when its memory is full",
					"set 'maxmemory-policy noeviction', or use a separate Redis for timingwheel.store.type=redis");
		}
	}

	private static void checkPersistence(@Nullable String appendOnly) {
		if (!"1".equals(appendOnly)) {
			logger.warn("Redis "
					+ ((appendOnly != null) ? "has no append-only file" : "does not report its persistence")
					+ ": a restart may lose the tasks that were stored since its last snapshot. Set 'appendonly yes'");
		}
	}

	private void checkPartitions(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		String expected = String.valueOf(this.options.partitions());
		String found = agreed(commands, "partitions", expected);
		if (!found.equals(expected)) {
			throw new UnusableTaskStoreException(
					"the tasks in the Redis namespace '%s' are spread over %s partitions, not %s"
						.formatted(this.options.namespace(), found, expected),
					"set timingwheel.store.redis.partitions=%s, or start with a new timingwheel.store.redis.namespace"
						.formatted(found));
		}
	}

	/**
	 * Checks the format. This version reads the data of older formats. Nodes of older
	 * versions do not check the format, and do not see the changes that this version
	 * makes. They must be stopped before.
	 */
	private void checkFormat(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		String found = agreed(commands, "format", String.valueOf(FORMAT));
		if (!found.equals(String.valueOf(FORMAT))) {
			throw new UnusableTaskStoreException(
					"the tasks in the Redis namespace '%s' have format %s, and this version of timingwheel writes format %d"
						.formatted(this.options.namespace(), found, FORMAT),
					"use a newer version of timingwheel, or another timingwheel.store.redis.namespace");
		}
	}

	/**
	 * Stores the values that all nodes of the namespace agree on, if Redis has lost them
	 * since this node checked them. A node with other values could otherwise start beside
	 * this one.
	 * @return whether Redis had lost them, also if another node has stored them since
	 */
	boolean restoreAgreed() {
		RedisClusterAsyncCommands<byte[], byte[]> commands = this.connection.commands();
		byte[] found = this.connection.get(commands.hget(meta(), Partitions.bytes(INSTANCE)));
		if (found != null && new String(found, StandardCharsets.UTF_8).equals(this.instance)) {
			return false;
		}
		checkAgreed(commands);
		return true;
	}

	private void checkAgreed(RedisClusterAsyncCommands<byte[], byte[]> commands) {
		checkPartitions(commands);
		checkFormat(commands);
		this.instance = agreed(commands, INSTANCE, UUID.randomUUID().toString());
	}

	private byte[] meta() {
		return Partitions.bytes("timingwheel:{" + this.options.namespace() + "}:meta");
	}

	/**
	 * Reads a value that all nodes of the namespace agree on, and writes it if there is
	 * none. A node that finds the value writes nothing, and so can start while Redis is
	 * full.
	 */
	private String agreed(RedisClusterAsyncCommands<byte[], byte[]> commands, String name, String expected) {
		byte[] key = meta();
		byte[] field = Partitions.bytes(name);
		byte[] found = this.connection.get(commands.hget(key, field));
		if (found == null) {
			this.connection.get(commands.hsetnx(key, field, Partitions.bytes(expected)));
			found = this.connection.get(commands.hget(key, field));
		}
		return new String(found, StandardCharsets.UTF_8);
	}

}
