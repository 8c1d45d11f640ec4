package io.timingwheel.spring.durable.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.lettuce.core.codec.Base16;
import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.jspecify.annotations.Nullable;

import org.springframework.core.io.ClassPathResource;

/**
 * The Lua scripts. The source of each one is what it needs of {@code prelude.lua}, and
 * the file with its name.
 */
enum Script {

	ENQUEUE, RECUR, CLAIM, LEASED, CANCEL, MOVE, REQUEUE, DISCARD, FIND, LIST, COUNTS, FORECAST, NODES;

	final byte[] source = Partitions.bytes(withPrelude(read(name().toLowerCase(Locale.ROOT))));

	final String digest = Base16.digest(this.source);

	/**
	 * Adds those paragraphs of the prelude whose names the script uses. Redis would make
	 * all functions of the prelude anew for each call.
	 */
	private static String withPrelude(String script) {
		String text = script;
		List<String> paragraphs = List.of(read("prelude").split("\n\n"));
		for (int i = paragraphs.size() - 1; i >= 0; i--) {
			String used = text;
			boolean needed = Pattern.compile("^local (?:function )?([\\w, ]*\\w)", Pattern.MULTILINE)
				.matcher(paragraphs.get(i))
				.results()
				.flatMap((one) -> Stream.of(one.group(1).split(", ")))
				.anyMatch((name) -> Pattern.compile("\\b" + name + "\\b").matcher(used).find());
			text = needed ? paragraphs.get(i) + "\n\n" + text : text;
		}
		return text;
	}

	private static String read(String name) {
		try {
			return new ClassPathResource(name + ".lua", Script.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	Call on(int partition, @Nullable Object... arguments) {
		return new Call(this, partition, new ArrayList<>()).with(arguments);
	}

	List<Call> onEach(Partitions partitions, @Nullable Object... arguments) {
		return partitions.all().stream().map((partition) -> on(partition, arguments)).toList();
	}

	/**
	 * An argument of a script: bytes, text, a number, a flag as 1 or 0, a duration in
	 * milliseconds, {@code null} as empty text.
	 */
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

	/**
	 * A call of a script on one partition.
	 *
	 * @param arguments the arguments after the clock, which {@link Scripts} adds
	 */
	record Call(Script script, int partition, List<byte[]> arguments) {

		Call with(@Nullable Object... values) {
			for (Object value : values) {
				this.arguments.add(bytes(value));
			}
			return this;
		}

	}

}
