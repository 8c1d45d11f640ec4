package io.timingwheel.spring.durable.store.test;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the documentation says of stores is what the interface, the contract and the
 * example say.
 */
class DocumentationTests {

	private static final Path KIT = Path.of("src/main/java", StoreContract.class.getPackageName().split("\\."));

	private static final Path INTERFACE = Path.of("../timingwheel-durable/src/main/java",
			DelayedTaskStore.class.getPackageName().split("\\."));

	@Test
	void theTableOfTheStatesIsThatOfTheInterface() throws IOException {
		List<List<String>> table = table(page("durable.md"), "| state | event | next state | fence |");
		assertThat(table).hasSizeGreaterThan(20).isEqualTo(tableOfTheInterface());
	}

	/**
	 * The table in the Javadoc. The last column is empty in the lines that continue a
	 * row.
	 */
	private static List<List<String>> tableOfTheInterface() throws IOException {
		String source = Files.readString(INTERFACE.resolve("package-info.java"));
		List<String> lines = source.substring(source.indexOf("<pre>"), source.indexOf("</pre>"))
			.lines()
			.skip(1)
			.map((line) -> line.substring(Math.min(3, line.length())))
			.toList();
		int[] columns = Stream.of("state", "event", "next state", "fence").mapToInt(lines.get(0)::indexOf).toArray();
		List<List<String>> rows = new ArrayList<>();
		for (String line : lines.subList(1, lines.size())) {
			List<String> cells = IntStream.range(0, columns.length)
				.mapToObj((i) -> line.substring(Math.min(columns[i], line.length()),
						(i + 1 < columns.length) ? Math.min(columns[i + 1], line.length()) : line.length()))
				.map(String::strip)
				.toList();
			if (!cells.get(3).isEmpty()) {
				rows.add(cells);
			}
			else if (!line.isBlank()) {
				List<String> row = rows.remove(rows.size() - 1);
				rows.add(IntStream.range(0, columns.length)
					.mapToObj((i) -> (row.get(i) + " " + cells.get(i)).strip())
					.toList());
			}
		}
		return rows;
	}

	@Test
	void thePageAndTheExampleHaveEachClassOfTheContract() throws IOException {
		Set<String> classes;
		try (Stream<Path> files = Files.list(KIT)) {
			classes = files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.endsWith("ContractTests.java"))
				.map((name) -> name.replace(".java", ""))
				.collect(Collectors.toSet());
		}
		assertThat(classes).isNotEmpty();
		assertThat(codes(table(page("store-authors.md"), "| class | what it tests |")))
			.containsExactlyInAnyOrderElementsOf(classes);
		assertThat(InMemoryTaskStoreTests.class.getDeclaredClasses()).filteredOn((test) -> !test.isInterface())
			.extracting((test) -> test.getSuperclass().getSimpleName())
			.containsExactlyInAnyOrderElementsOf(classes);
	}

	@Test
	void thePageHasEachMethodOfTheInterface() throws IOException {
		String page = page("store-authors.md");
		List<String> inOrder = new ArrayList<>();
		for (String day : page.split("(?m)^Day ")) {
			inOrder.addAll(codes(table(day, "| method | what to know |")));
		}
		assertThat(inOrder).containsAll(methods((method) -> !method.isDefault()));
		assertThat(codes(table(page, "| left out | then |")))
			.containsExactlyInAnyOrderElementsOf(methods(Method::isDefault));
	}

	private static Set<String> methods(Predicate<Method> which) {
		return Arrays.stream(DelayedTaskStore.class.getDeclaredMethods())
			.filter((method) -> !method.isSynthetic())
			.filter(which)
			.map(Method::getName)
			.collect(Collectors.toSet());
	}

	/**
	 * The names in code in the first column of a table.
	 */
	private static List<String> codes(List<List<String>> table) {
		return table.stream()
			.flatMap((row) -> Pattern.compile("`(\\w+)`").matcher(row.get(0)).results())
			.map((code) -> code.group(1))
			.toList();
	}

	/**
	 * The rows of a table, without its head; none if there is no such table.
	 */
	private static List<List<String>> table(String text, String head) {
		return text.lines()
			.dropWhile((line) -> !line.equals(head))
			.skip(2)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.stream(line.substring(1, line.length() - 1).split(" \\| "))
				.map(String::strip)
				.toList())
			.toList();
	}

	private static String page(String name) throws IOException {
		return Files.readString(Path.of("../docs", name));
	}

}
