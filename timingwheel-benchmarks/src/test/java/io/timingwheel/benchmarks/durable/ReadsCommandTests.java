package io.timingwheel.benchmarks.durable;

import java.io.PrintWriter;
import java.io.StringWriter;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;

class ReadsCommandTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			--pending 999                 | --pending must be from 1000 to 100000000
			--reads-per-second 0          | --reads-per-second must be from 1 to 1000
			--store redis --executions    | Remove --executions or --store
			--store mysql                 | expected one of [POSTGRESQL, REDIS]
			""")
	void anOptionThatMakesNoSenseIsNamedBeforeAServerStarts(String arguments, String message) {
		StringWriter error = new StringWriter();

		int status = new CommandLine(new ReadsCommand()).setCaseInsensitiveEnumValuesAllowed(true)
			.setErr(new PrintWriter(error))
			.execute(arguments.split(" "));

		assertThat(status).isEqualTo(CommandLine.ExitCode.USAGE);
		assertThat(error.toString()).contains(message);
	}

}
