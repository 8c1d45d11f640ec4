package io.timingwheel.spring.durable.node;

import java.time.Duration;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class ThreadLoopTests {

	private static final long FOREVER = Long.MAX_VALUE;

	private final LinkedBlockingQueue<Consumer<ThreadLoop>> rounds = new LinkedBlockingQueue<>();

	private final LinkedBlockingQueue<Thread> begun = new LinkedBlockingQueue<>();

	private final ThreadLoop thread = new ThreadLoop("thread-loop-test", this::round);

	private void round() {
		try {
			Consumer<ThreadLoop> round = this.rounds.take();
			this.begun.add(Thread.currentThread());
			round.accept(this.thread);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private Thread begin(Consumer<ThreadLoop> round) throws InterruptedException {
		this.rounds.add(round);
		Thread thread = this.begun.poll(1, TimeUnit.MINUTES);
		assertThat(thread).isNotNull();
		return thread;
	}

	private static void awaitWaiting(Thread thread) {
		await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
	}

	@AfterEach
	void stop() throws InterruptedException {
		this.thread.stop(Duration.ZERO);
		// A round that waits for this one is the last.
		this.rounds.add((thread) -> {
		});
		this.thread.stop(Duration.ofSeconds(10));
	}

	@Test
	void aCallBeforeOrDuringTheWaitEndsOneWait() throws InterruptedException {
		this.thread.start();
		this.thread.wake();
		this.thread.wake();
		begin((thread) -> thread.await(0, FOREVER));
		awaitWaiting(begin((thread) -> thread.await(0, FOREVER)));
		this.thread.wake();
		begin((thread) -> {
		});
	}

	@Test
	void aSleepEndsOnlyWithTheThread() throws InterruptedException {
		this.thread.start();
		Thread sleeping = begin((thread) -> thread.sleep(FOREVER));
		awaitWaiting(sleeping);
		this.thread.wake();
		this.thread.wake();
		awaitWaiting(sleeping);
		this.thread.stop(Duration.ofSeconds(10));
		assertThat(sleeping.isAlive()).isFalse();
	}

	@Test
	void aRestEndsOnlyWithItsTime() throws InterruptedException {
		this.thread.start();
		awaitWaiting(begin((thread) -> thread.await(Duration.ofMillis(200).toNanos(), FOREVER)));
		long start = System.nanoTime();
		this.thread.wake();
		begin((thread) -> {
		});
		assertThat(System.nanoTime() - start).isGreaterThan(Duration.ofMillis(50).toNanos());
	}

	@Test
	void anInterruptEndsNoWait() throws InterruptedException {
		this.thread.start();
		Thread waiting = begin((thread) -> thread.await(0, FOREVER));
		awaitWaiting(waiting);
		waiting.interrupt();
		await().until(() -> !waiting.isInterrupted());
		awaitWaiting(waiting);
		this.thread.wake();
		begin((thread) -> {
		});
	}

}
