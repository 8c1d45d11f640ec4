package io.timingwheel.spring.faults;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Scanner;

import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;

/**
 * The commands that a test can send to a node. Each command and each answer is one line.
 */
class NodeCommands {

	private final DurableNode node;

	private final DelayedTaskTemplate template;

	private final Worker worker;

	NodeCommands(DurableNode node, DelayedTaskTemplate template, Worker worker) {
		this.node = node;
		this.template = template;
		this.worker = worker;
	}

	void serve(PrintStream replies) {
		Scanner lines = new Scanner(System.in, StandardCharsets.UTF_8);
		while (lines.hasNextLine()) {
			replies.println(reply(lines.nextLine().split(" ")));
		}
	}

	private String reply(String[] words) {
		return switch (words[0]) {
			case "pause" -> done(this.node::pause);
			case "resume" -> done(this.node::resume);
			case "hold" -> done(this.worker::hold);
			case "let-go" -> done(this.worker::letGo);
			case "in-flight" -> String.valueOf(this.node.inFlight());
			case "claims" -> String.valueOf(this.node.figures().claims());
			case "lost-leases" -> String.valueOf(this.node.figures().lostLeases());
			case "refused-begins" -> String.valueOf(this.node.figures().refused());
			case "clock" -> String.valueOf(System.currentTimeMillis());
			case "instant" -> String.valueOf(Instant.now().toEpochMilli());
			case "enqueue" -> done(() -> enqueue(words));
			default -> "What is " + words[0] + "?";
		};
	}

	private static String done(Runnable action) {
		action.run();
		return NodeProcess.DONE;
	}

	/**
	 * The arguments: the first number, the number of tasks, the delay and the duration in
	 * milliseconds.
	 */
	private void enqueue(String[] words) {
		long first = Long.parseLong(words[1]);
		for (long number = first; number < first + Long.parseLong(words[2]); number++) {
			this.template.enqueue(TaskId.of(Worker.NAME, number), Duration.ofMillis(Long.parseLong(words[3])), number,
					Long.parseLong(words[4]));
		}
	}

}
