package io.timingwheel.spring.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CountDownLatch;

import io.timingwheel.spring.durable.node.DurableNode;
import io.timingwheel.spring.task.DelayedTaskTemplate;
import io.timingwheel.spring.task.TaskId;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The commands that a test can send to a node. Each command and each answer is one line.
 */
class NodeCommands {

	private final DurableNode node;

	private final DelayedTaskTemplate template;

	private final Worker worker;

	private final ClaimRecorder claims;

	private final ObjectProvider<PlatformTransactionManager> transactionManager;

	NodeCommands(DurableNode node, DelayedTaskTemplate template, Worker worker, ClaimRecorder claims,
			ObjectProvider<PlatformTransactionManager> transactionManager) {
		this.node = node;
		this.template = template;
		this.worker = worker;
		this.claims = claims;
		this.transactionManager = transactionManager;
	}

	void serve(PrintStream replies) throws IOException {
		BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String line;
		while ((line = lines.readLine()) != null) {
			String[] words = line.split(" ");
			replies.println(reply(words[0], words, replies));
		}
	}

	private String reply(String command, String[] words, PrintStream replies) {
		return switch (command) {
			case "pause" -> done(this.node::pause);
			case "resume" -> done(this.node::resume);
			case "hold" -> done(this.worker::hold);
			case "let-go" -> done(this.worker::letGo);
			case "in-flight" -> String.valueOf(this.node.inFlight());
			case "claims" -> String.valueOf(this.node.figures().claims());
			case "lost-leases" -> String.valueOf(this.node.figures().lostLeases());
			case "refused-begins" -> String.valueOf(this.node.figures().refused());
			case "largest-claim" -> String.valueOf(this.claims.largest());
			case "unordered-claims" -> String.valueOf(this.claims.unordered());
			case "clock" -> String.valueOf(System.currentTimeMillis());
			case "instant" -> String.valueOf(Instant.now().toEpochMilli());
			case "enqueue" -> done(() -> enqueue(words));
			case "rollback" -> done(() -> transaction().executeWithoutResult((status) -> {
				enqueue(words);
				status.setRollbackOnly();
			}));
			case "transaction" -> {
				transaction().executeWithoutResult((status) -> {
					enqueue(words);
					replies.println(NodeProcess.DONE);
					hang();
				});
				yield NodeProcess.DONE;
			}
			default -> "What is " + command + "?";
		};
	}

	private static String done(Runnable action) {
		action.run();
		return NodeProcess.DONE;
	}

	private TransactionTemplate transaction() {
		return new TransactionTemplate(this.transactionManager.getObject());
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

	private static void hang() {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
