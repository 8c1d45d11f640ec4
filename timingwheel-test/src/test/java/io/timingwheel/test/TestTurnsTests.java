package io.timingwheel.test;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@Timeout(90)
class TestTurnsTests {

	private final TestTurns turns = new TestTurns();

	private final CompletableFuture<Void> begun = new CompletableFuture<>();

	@Test
	void aMethodWaitsForTheEndOfAnother() {
		this.turns.begin("first");
		Thread second = begin("second");
		await().until(() -> second.getState() == Thread.State.TIMED_WAITING);
		this.turns.end("second");
		assertThat(this.begun).isNotDone();
		this.turns.end("first");
		assertThat(this.begun).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void aMethodOfTheSameThreadDoesNotWait() {
		this.turns.begin("first");
		this.turns.begin("second");
		this.turns.end("first");
		Thread third = begin("third");
		await().until(() -> third.getState() == Thread.State.TIMED_WAITING);
		this.turns.end("second");
		assertThat(this.begun).succeedsWithin(Duration.ofMinutes(1));
	}

	@Test
	void aThreadThatHasEndedHoldsUpNobody() throws Exception {
		begin("first").join();
		this.turns.begin("second");
		this.turns.end("second");
	}

	@Test
	void anInterruptEndsTheWaiting() {
		this.turns.begin("first");
		Thread second = begin("second");
		second.interrupt();
		assertThat(this.begun).failsWithin(Duration.ofMinutes(1))
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(InterruptedException.class);
	}

	private Thread begin(String method) {
		Thread thread = new Thread(() -> {
			try {
				this.turns.begin(method);
				this.begun.complete(null);
			}
			catch (RuntimeException ex) {
				this.begun.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

}
