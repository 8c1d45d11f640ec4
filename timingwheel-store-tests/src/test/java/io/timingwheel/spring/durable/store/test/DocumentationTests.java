package io.timingwheel.spring.durable.store.test;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.timingwheel.spring.durable.store.DelayedTaskStore;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page for authors of stores and the example have all of the interface and of the
 * contract.
 */
class DocumentationTests {

	private static final Path KIT = Path.of("src/main/java", StoreContract.class.getPackageName().split("\\."));

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
		assertThat(words("(\\w+ContractTests)")).isEqualTo(classes);
		assertThat(InMemoryTaskStoreTests.class.getDeclaredClasses()).filteredOn((test) -> !test.isInterface())
			.extracting((test) -> test.getSuperclass().getSimpleName())
			.containsExactlyInAnyOrderElementsOf(classes);
	}

	@Test
	void thePageHasEachMethodThatAStoreMustHave() throws IOException {
		assertThat(words("`(\\w+)`")).containsAll(Arrays.stream(DelayedTaskStore.class.getDeclaredMethods())
			.filter((method) -> !method.isSynthetic() && !method.isDefault())
			.map(Method::getName)
			.toList());
	}

	private static Set<String> words(String pattern) throws IOException {
		return Pattern.compile(pattern)
			.matcher(Files.readString(Path.of("../docs/store-authors.md")))
			.results()
			.map((MatchResult result) -> result.group(1))
			.collect(Collectors.toSet());
	}

}
