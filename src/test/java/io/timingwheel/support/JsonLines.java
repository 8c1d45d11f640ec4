package io.timingwheel.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

/**
 * JSON as lines for {@link Approved}: one line for each value, with its path. The fields
 * of an object are sorted.
 */
public final class JsonLines {

	/** The fields whose values vary between runs. */
	private static final Set<String> VARYING = Set.of("age", "cursor", "lag", "maxLag", "timestamp");

	private static final String TIME = "\\d{4}-\\d\\d-\\d\\dT[0-9:.]+Z";

	/** In memory and stored. */
	private static final String TASK_ID = "[0-9a-f]{8,}(-[0-9a-f]+){1,2}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}";

	private JsonLines() {
	}

	/**
	 * Writes JSON as lines. In place of times, ids of tasks and other values that vary
	 * there are their types.
	 * @param json maps, lists and values, as a JSON parser gives them
	 * @param mask masks further values by their path: gives the text in place of a value,
	 * or {@code null}
	 * @return the lines
	 */
	public static List<String> of(@Nullable Object json, BiFunction<String, Object, @Nullable String> mask) {
		List<String> lines = new ArrayList<>();
		add(lines, "", json, mask);
		return lines;
	}

	private static void add(List<String> lines, String path, @Nullable Object json,
			BiFunction<String, Object, @Nullable String> mask) {
		if (json instanceof Map<?, ?> map && !map.isEmpty()) {
			new TreeMap<>(map).forEach(
					(name, value) -> add(lines, path.isEmpty() ? name.toString() : path + "." + name, value, mask));
		}
		else if (json instanceof List<?> list && list.size() > 10) {
			long sum = list.stream()
				.mapToLong((value) -> (value instanceof Number number) ? number.longValue() : 0)
				.sum();
			lines.add(path + ": <" + list.size() + " values, sum " + sum + ">");
		}
		else if (json instanceof List<?> list && !list.isEmpty()) {
			for (int i = 0; i < list.size(); i++) {
				add(lines, path + "[" + i + "]", list.get(i), mask);
			}
		}
		else {
			lines.add(path + ": " + value(path, json, mask));
		}
	}

	private static String value(String path, @Nullable Object value,
			BiFunction<String, Object, @Nullable String> mask) {
		if (value == null) {
			return "null";
		}
		String masked = mask.apply(path, value);
		if (masked != null) {
			return masked;
		}
		if (VARYING.contains(path.substring(path.lastIndexOf('.') + 1))) {
			return "<" + value.getClass().getSimpleName().toLowerCase() + ">";
		}
		return (value instanceof String text) ? '"' + masked(text) + '"' : value.toString();
	}

	private static String masked(String text) {
		return text.matches(TIME) ? "<time>" : text.matches(TASK_ID) ? "<id>" : text;
	}

}
