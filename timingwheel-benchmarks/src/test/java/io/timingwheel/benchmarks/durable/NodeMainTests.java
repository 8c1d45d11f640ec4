package io.timingwheel.benchmarks.durable;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

class NodeMainTests {

	@Test
	void aNodeThatCannotStartPrintsTheStackTraceAndFails(@TempDir Path directory)
			throws IOException, InterruptedException {
		Path output = directory.resolve("output");
		Process node = new ProcessBuilder(
				DurablePeer.TIMINGWHEEL.command(Store.POSTGRESQL, "jdbc:nowhere", List.of("-Xmx256m")))
			.redirectErrorStream(true)
			.redirectOutput(output.toFile())
			.start();
		try {
			assertThat(node.waitFor(3, TimeUnit.MINUTES)).isTrue();
			assertThat(node.exitValue()).isOne();
			assertThat(Files.readString(output)).contains("Exception", "\tat ");
		}
		finally {
			node.destroyForcibly();
		}
	}

}
