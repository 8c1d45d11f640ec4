package io.timingwheel.benchmarks;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command that runs a class of this archive in a JVM of its own. */
public final class JavaCommand {

	private JavaCommand() {
	}

	/**
	 * The words of the command, for the JDK and the class path of this JVM.
	 * @param jvmArgs the settings of the new JVM
	 * @param mainClass the class to run
	 * @param arguments its arguments
	 */
	public static List<String> of(List<String> jvmArgs, Class<?> mainClass, String... arguments) {
		List<String> command = new ArrayList<>();
		command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		command.addAll(jvmArgs);
		command.addAll(List.of("-cp", System.getProperty("java.class.path"), mainClass.getName()));
		command.addAll(List.of(arguments));
		return command;
	}

}
