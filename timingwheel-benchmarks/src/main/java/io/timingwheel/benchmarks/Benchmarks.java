package io.timingwheel.benchmarks;

import java.util.Locale;

import io.timingwheel.benchmarks.durable.DurableCommand;
import io.timingwheel.benchmarks.durable.ReadsCommand;
import io.timingwheel.benchmarks.report.ReportCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/**
 * The command line. JMH has its own on the same class path:
 * {@code java -cp benchmarks.jar org.openjdk.jmh.Main}.
 */
@Command(name = "benchmarks", mixinStandardHelpOptions = true,
		subcommands = { ReportCommand.class, DurableCommand.class, ReadsCommand.class },
		description = "Measures the timing wheel beside its peers.")
public final class Benchmarks {

	private Benchmarks() {
	}

	/**
	 * Runs a command.
	 * @param args the command and its options; {@code --help} lists them
	 */
	public static void main(String[] args) {
		// Figures look the same in all countries.
		Locale.setDefault(Locale.ROOT);
		System.exit(commandLine().execute(args));
	}

	static CommandLine commandLine() {
		return new CommandLine(new Benchmarks()).setCaseInsensitiveEnumValuesAllowed(true);
	}

}
