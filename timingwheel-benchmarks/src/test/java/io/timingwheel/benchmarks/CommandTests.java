package io.timingwheel.benchmarks;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceLoader;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.LoggerFactory;
import org.slf4j.helpers.NOPLoggerFactory;
import org.slf4j.spi.SLF4JServiceProvider;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class CommandTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			report --rounds -1                        | --rounds must be at least 1
			report --rounds many                      | is not an int
			report --measurements speed               | There is no measurement 'speed' here, only schedule, churn,
			report --peers HASHED_WHEEL               | expected one of [TIMINGWHEEL, TIMINGWHEEL_100US
			report --peers AGRONA --measurements idle | this measurement compares TIMINGWHEEL, TIMINGWHEEL_100US
			durable --store redis --commit-latency 5ms      | --commit-latency needs --store postgresql
			durable --store postgresql --commit-latency 1s  | --commit-latency must be from 0ms to 100ms
			durable --store postgresql --commit-latency hot | is not a duration such as 5ms, 90s or 10m
			durable --store postgresql --pending -1         | --pending must be from 0 to 100000000
			durable --store postgresql --growth-time 23m    | --growth-time must be from 10s to 22m
			durable --store postgresql --warm-up 2000001    | --warm-up must be from 1 to 2000000
			durable --store mysql                           | expected one of [POSTGRESQL, REDIS]
			durable --store redis --peers NOBODY            | expected one of [TIMINGWHEEL, TIMINGWHEEL_500
			durable --store redis --peers DB_SCHEDULER      | [DB_SCHEDULER] cannot use --store redis
			durable --store redis --measurements nothing    | There is no measurement 'nothing' here, only executions,
			durable --store redis --peers REDISSON --measurements lateness,sharing | takes part in sharing here
			durable --store postgresql --peers DB_SCHEDULER --pending 1 | Only timingwheel takes part with --pending
			reads --pending 999                       | --pending must be from 1000 to 100000000
			reads --reads-per-second 0                | --reads-per-second must be from 1 to 1000
			reads --store redis --executions          | Remove --executions or --store
			reads --store mysql                       | expected one of [POSTGRESQL, REDIS]
			""")
	void anOptionThatMakesNoSenseIsNamedBeforeAnythingRuns(String command, String message) {
		assertThat(errorOf(command.split(" "))).contains(message);
	}

	@Test
	void aFileIsNoDirectoryForTheReport(@TempDir Path directory) throws IOException {
		Path file = Files.createFile(directory.resolve("report.md"));
		assertThat(errorOf("report", "--output", file.toString())).contains("--output " + file + " is no directory");
	}

	@Test
	void noContestantWritesALog() {
		assertThat(LoggerFactory.getILoggerFactory()).isInstanceOf(NOPLoggerFactory.class);
		assertThat(ServiceLoader.load(SLF4JServiceProvider.class)).hasSize(1);
	}

	private static String errorOf(String... command) {
		StringWriter error = new StringWriter();
		int status = Benchmarks.commandLine().setErr(new PrintWriter(error)).execute(command);
		assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
		return error.toString();
	}

}
