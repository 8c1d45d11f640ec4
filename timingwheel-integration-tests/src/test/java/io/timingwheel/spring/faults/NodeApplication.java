package io.timingwheel.spring.faults;

import java.io.PrintStream;
import java.util.Locale;
import java.util.Scanner;
import java.util.function.Function;

import io.timingwheel.spring.durable.node.DurableNode;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Import;

/** A node in a JVM of its own, with the commands that a test can send to it. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ Executions.class, Worker.class, TransactionalWorker.class })
class NodeApplication implements Function<String[], String> {

	static final String READY = "READY";

	static final String DONE = "DONE";

	private final DurableNode node;

	private final Worker worker;

	NodeApplication(DurableNode node, Worker worker) {
		this.node = node;
		this.worker = worker;
	}

	public static void main(String[] args) {
		// No digit of a message may get into a statement, an id or an argument.
		Locale.setDefault(Locale.forLanguageTag("fa-IR"));
		serve(NodeApplication.class, args);
	}

	/**
	 * Runs an application. It prints {@code READY} once it claims tasks. Then it reads
	 * commands, one per line, and answers each with a line, until its input ends. It logs
	 * to the standard error.
	 * @param application takes the words of a command, and gives the answer
	 */
	static void serve(Class<? extends Function<String[], String>> application, String[] args) {
		PrintStream replies = System.out;
		System.setOut(System.err);
		Function<String[], String> commands = SpringApplication.run(application, args).getBean(application);
		replies.println(READY);
		Scanner lines = new Scanner(System.in);
		while (lines.hasNextLine()) {
			replies.println(commands.apply(lines.nextLine().split(" ")));
		}
		System.exit(0);
	}

	static String done(Runnable action) {
		action.run();
		return DONE;
	}

	@Override
	public String apply(String[] words) {
		return switch (words[0]) {
			case "pause" -> done(this.node::pause);
			case "resume" -> done(this.node::resume);
			case "hold" -> done(this.worker::hold);
			case "let-go" -> done(this.worker::letGo);
			case "in-flight" -> String.valueOf(this.node.inFlight());
			case "claims" -> String.valueOf(this.node.figures().claims());
			case "lost-leases" -> String.valueOf(this.node.figures().lostLeases());
			case "refused-begins" -> String.valueOf(this.node.figures().refused());
			default -> "What is " + words[0] + "?";
		};
	}

}
