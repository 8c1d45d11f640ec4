package io.timingwheel.spring.aop.internal;

import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Compares names in properties with names in the code by their letters and digits,
 * whatever their case.
 */
public final class RelaxedNames {

	private RelaxedNames() {
	}

	/**
	 * The form that all spellings of a name have in common.
	 */
	public static String uniform(String name) {
		return name.chars()
			.filter(Character::isLetterOrDigit)
			.collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
			.toString()
			.toLowerCase(Locale.ROOT);
	}

	public static boolean contains(Collection<String> names, String name) {
		String uniform = uniform(name);
		return names.stream().anyMatch((candidate) -> uniform(candidate).equals(uniform));
	}

	/**
	 * The names that are most like another one.
	 */
	public static List<String> nearest(Collection<String> names, String name, int limit) {
		String uniform = uniform(name);
		return names.stream()
			.sorted(Comparator.<String>comparingInt((candidate) -> distance(uniform, uniform(candidate)))
				.thenComparing(Comparator.naturalOrder()))
			.limit(limit)
			.toList();
	}

	private static int distance(String first, String second) {
		int[] row = IntStream.rangeClosed(0, second.length()).toArray();
		for (int i = 1; i <= first.length(); i++) {
			int diagonal = row[0];
			row[0] = i;
			for (int j = 1; j <= second.length(); j++) {
				int replace = diagonal + ((first.charAt(i - 1) != second.charAt(j - 1)) ? 1 : 0);
				diagonal = row[j];
				row[j] = Math.min(replace, 1 + Math.min(row[j], row[j - 1]));
			}
		}
		return row[second.length()];
	}

}
