package io.timingwheel.spring.durable.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.lettuce.core.codec.Base16;
import io.timingwheel.spring.durable.DelayedTaskStore;
import io.timingwheel.spring.durable.LeaseOffer;
import org.jspecify.annotations.Nullable;

/**
 * The Lua scripts: first the transitions of a task in the order of the protocol, then the
 * places of limited names, then the queries. {@link ScriptSource} puts the source of each
 * script together.
 */
enum Script {

	ENQUEUE, INSERT, RECUR, CLAIM, CLAIM_LIMITED, CLAIM_EXPIRED, CLAIM_SUSPECT, BEGIN, RENEW, ACKNOWLEDGE, REPEAT,
	RETRY, RELEASE, BURY, CANCEL, RESCHEDULE, REQUEUE, DISCARD, EXPIRE,

	TAKE_PLACES, KEEP_PLACES, FREE_PLACES, LOOK_LIMITED,

	FIND, PENDING, LATEST_DEAD, DEAD, COUNTS, FORECAST, NOW, DELETE_ALL, CHECK;

	private final byte[] source = Partitions.bytes(ScriptSource.of(name().toLowerCase(Locale.ROOT)));

	private final String digest = Base16.digest(this.source);

	byte[] source() {
		return this.source;
	}

	/**
	 * The name of the script in Redis, once Redis has read the source.
	 */
	String digest() {
		return this.digest;
	}

	/**
	 * A call of this script on a partition.
	 */
	Call on(int partition, @Nullable Object... arguments) {
		return new Call(this, partition, new ArrayList<>(), List.of()).with(arguments);
	}

	/**
	 * A call of this script on each partition.
	 * @param partitions the number of partitions
	 */
	List<Call> onEach(int partitions, @Nullable Object... arguments) {
		return IntStream.range(0, partitions).mapToObj((partition) -> on(partition, arguments)).toList();
	}

	/**
	 * A call of a script on one partition.
	 *
	 * @param script the script
	 * @param partition the partition
	 * @param arguments the arguments after the clock offset; {@link ScriptRunner} adds
	 * the offset
	 * @param keys further keys after those of the partition
	 */
	record Call(Script script, int partition, List<byte[]> arguments, List<byte[]> keys) {

		/**
		 * A call with further keys, which are in the slot of the partition.
		 */
		Call withKeys(List<byte[]> keys) {
			return new Call(this.script, this.partition, this.arguments, keys);
		}

		/**
		 * Adds arguments: bytes, text, numbers, flags as 1 or 0, durations in
		 * milliseconds, {@code null} as empty text.
		 */
		Call with(@Nullable Object... values) {
			for (Object value : values) {
				this.arguments.add(bytes(value));
			}
			return this;
		}

		/**
		 * Adds the two arguments of an offer: look-ahead and lease. A negative look-ahead
		 * stands for no offer.
		 */
		Call withLease(@Nullable LeaseOffer lease) {
			return (lease != null) ? with(lease.lookAhead(), lease.lease()) : with(-1, 0);
		}

		private static byte[] bytes(@Nullable Object value) {
			if (value instanceof byte[] bytes) {
				return bytes;
			}
			if (value instanceof Boolean flag) {
				return Partitions.bytes(flag ? "1" : "0");
			}
			if (value instanceof Duration duration) {
				long millis = Math.min(TimeUnit.MILLISECONDS.convert(duration), DelayedTaskStore.MAX_TIME);
				return Partitions.bytes(Long.toString(millis));
			}
			return Partitions.bytes((value != null) ? value.toString() : "");
		}

	}

}
