package io.timingwheel.test.docs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The snippets of the documentation are the tagged parts of tests, here and in the
 * modules that have a store.
 */
class SnippetTests {

	private static final Pattern SNIPPET = Pattern.compile("<!-- (\\w+)#(\\w+) -->\n```java\n(.*?)\n```",
			Pattern.DOTALL);

	private static final List<Path> SOURCES = Stream
		.of("timingwheel-test/src/test/java/io/timingwheel/test/docs",
				"timingwheel-jdbc/src/test/java/io/timingwheel/spring/docs",
				"timingwheel-core/src/test/java/io/timingwheel",
				"timingwheel-store-tests/src/test/java/io/timingwheel/spring/durable/store/test")
		.map((folder) -> Path.of("..", folder))
		.toList();

	static Stream<Path> pages() throws IOException {
		try (Stream<Path> docs = Files.list(Path.of("../docs"))) {
			return Stream.concat(Stream.of(Path.of("../README.md")), docs.sorted().toList().stream())
				.filter((path) -> path.toString().endsWith(".md"));
		}
	}

	@ParameterizedTest
	@MethodSource("pages")
	void eachBlockOfJavaIsAPartOfATest(Path page) throws IOException {
		String text = Files.readString(page);
		List<MatchResult> snippets = SNIPPET.matcher(text).results().toList();
		assertThat(snippets).as("each block of Java has the name of its test")
			.hasSize(text.split("```java", -1).length - 1);
		for (MatchResult snippet : snippets) {
			assertThat(snippet.group(3).stripIndent()).as(snippet.group(1) + "#" + snippet.group(2))
				.isEqualTo(tagged(snippet.group(1), snippet.group(2)));
		}
	}

	private static String tagged(String type, String tag) throws IOException {
		Path file = SOURCES.stream()
			.map((folder) -> folder.resolve(type + ".java"))
			.filter(Files::exists)
			.findFirst()
			.orElseThrow();
		String source = Files.readString(file);
		int start = source.indexOf("// tag::" + tag + "[]");
		int end = source.indexOf("// end::" + tag + "[]");
		assertThat(start).as(type + "#" + tag).isNotNegative();
		String part = source.substring(source.indexOf('\n', start) + 1, source.lastIndexOf('\n', end));
		return part.stripTrailing().stripIndent();
	}

}
