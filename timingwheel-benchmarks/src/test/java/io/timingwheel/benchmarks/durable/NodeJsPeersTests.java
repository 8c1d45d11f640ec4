package io.timingwheel.benchmarks.durable;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class NodeJsPeersTests {

	private static String read(String file) throws Exception {
		try (InputStream content = NodeJsPeers.class.getResourceAsStream("node-peers/" + file)) {
			return new String(content.readAllBytes(), StandardCharsets.UTF_8);
		}
	}

	@Test
	void theLockFileHasEachPeerInItsVersionAndNamesNoRegistry() throws Exception {
		String lock = read("package-lock.json");
		assertThat(lock).doesNotContain("://").doesNotContain("\"resolved\"");
		assertThat(Pattern.compile("\"([a-z-]+)\": \"(\\d+\\.\\d+\\.\\d+)\"")
			.matcher(read("package.json"))
			.results()
			.map(MatchResult::group)).hasSize(4).allSatisfy((dependency) -> {
				String name = dependency.split("\"")[1];
				String version = dependency.split("\"")[3];
				assertThat(lock).containsPattern(
						"\"node_modules/" + name + "\": \\{\\s+\"version\": \"" + Pattern.quote(version) + "\"");
			});
	}

	@Test
	void anAddressOfJdbcBecomesOneOfNodeJs() {
		assertThat(NodeJsPeers.address("jdbc:postgresql://localhost:1234/postgres?user=postgres"))
			.isEqualTo("postgres://postgres@localhost:1234/postgres");
		assertThat(NodeJsPeers.address("redis://127.0.0.1:1234")).isEqualTo("redis://127.0.0.1:1234");
	}

}
