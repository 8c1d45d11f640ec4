package io.timingwheel.spring.durable.store.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of states stands twice in the same words, and the page for authors of stores
 * has all of the interface.
 */
class DocumentationTests {

	private static final Path INTERFACE = Path.of("../timingwheel-durable/src/main/java",
			DelayedTaskStore.class.getPackageName().split("\\."));

	private static final Path KIT = Path.of("src/main/java", StoreContract.class.getPackageName().split("\\."));

	@Test
	void theTableOfTheStatesIsThatOfTheInterface() throws IOException {
		List<List<String>> table = Files.readString(Path.of("../docs/durable.md"))
			.lines()
			.dropWhile((line) -> !line.equals("| state | event | next state | fence |"))
			.skip(2)
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.stream(line.substring(1, line.length() - 1).split(" \\| "))
				.map(String::strip)
				.toList())
			.toList();
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
	void theContractHasEachOfItsClasses() throws IOException {
		try (Stream<Path> files = Files.list(KIT)) {
			assertThat(Stream.of(StoreContractTests.class.getDeclaredClasses())
				.map((type) -> type.getSuperclass().getSimpleName() + ".java"))
				.containsExactlyInAnyOrderElementsOf(files.map((file) -> file.getFileName().toString())
					.filter((name) -> name.endsWith("ContractTests.java") && !name.equals("StoreContractTests.java"))
					.toList());
		}
	}

	@Test
	void thePageHasEachMethodThatAStoreMustHave() throws IOException {
		assertThat(Files.readString(Path.of("../docs/store-authors.md")))
			.contains(Arrays.stream(DelayedTaskStore.class.getDeclaredMethods())
				.filter((method) -> !method.isSynthetic() && !method.isDefault())
				.map((method) -> "`" + method.getName() + "`")
				.toList());
	}

}
