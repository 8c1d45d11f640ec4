package io.timingwheel.spring.durable.redis;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.durable.Forecast.DueCounts;
import io.timingwheel.spring.durable.Forecast;
import io.timingwheel.spring.durable.ForecastQuery;
import io.timingwheel.spring.durable.redis.Script.Call;

/**
 * Counts how many pending tasks fall due in equal spans of the time ahead. Redis finds
 * the position of a time in its index in logarithmic time. If there are many names, only
 * some partitions count the names with many tasks. These counts give an estimate for all
 * partitions, because a hash spreads the tasks evenly. Thread-safe.
 */
final class DueForecasts {

	/** About how many positions the partitions look up for names with many tasks. */
	private static final int MAX_LOOK_UPS = 16_000;

	/** All partitions count a name with at most this number of tasks per partition. */
	private static final int FEW = 16;

	private final Partitions partitions;

	private final ScriptRunner scripts;

	DueForecasts(Partitions partitions, ScriptRunner scripts) {
		this.partitions = partitions;
		this.scripts = scripts;
	}

	Forecast read(ForecastQuery query) {
		long from = this.scripts.run(Script.NOW.on(0)).number(0);
		int count = this.partitions.count();
		List<String> few = new ArrayList<>();
		List<String> many = new ArrayList<>();
		query.pending().forEach((name, pending) -> ((pending <= (long) FEW * count) ? few : many).add(name));
		int asked = Math.max(1, Math.min(count, MAX_LOOK_UPS / (2 * query.spans() * Math.max(1, many.size()))));
		Map<String, long[]> counts = new LinkedHashMap<>();
		query.pending().keySet().forEach((name) -> counts.put(name, new long[query.spans()]));
		List<Call> calls = new ArrayList<>();
		List<List<String>> names = new ArrayList<>();
		for (int partition = 0; partition < count; partition++) {
			List<String> all = new ArrayList<>((partition < asked) ? many : List.of());
			all.addAll(few);
			if (!all.isEmpty()) {
				names.add(all);
				calls.add(Script.FORECAST.on(partition, from, query.span(), query.spans()).with(all.toArray()));
			}
		}
		List<ScriptReply> replies = this.scripts.run(calls);
		for (int i = 0; i < replies.size(); i++) {
			add(replies.get(i), names.get(i), counts);
		}
		Map<String, DueCounts> result = new LinkedHashMap<>();
		counts.forEach((name, spans) -> result.put(name,
				(asked < count && many.contains(name)) ? estimated(spans, (double) count / asked)
						: new DueCounts(Arrays.stream(spans).boxed().toList(), false)));
		return new Forecast(from, result);
	}

	private static void add(ScriptReply reply, List<String> names, Map<String, long[]> counts) {
		int position = 0;
		for (String name : names) {
			long[] spans = counts.get(name);
			for (int i = 0; spans != null && i < spans.length; i++) {
				spans[i] += reply.number(position++);
			}
		}
	}

	private static DueCounts estimated(long[] spans, double factor) {
		return new DueCounts(Arrays.stream(spans).map((count) -> Math.round(count * factor)).boxed().toList(), true);
	}

}
