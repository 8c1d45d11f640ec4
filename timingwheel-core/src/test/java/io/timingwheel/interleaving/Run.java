package io.timingwheel.interleaving;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** One interleaving: a list of choices of the thread that takes the next step. */
final class Run {

	private static final int MOST_STEPS = 50_000;

	private final int[] prefix;

	private final int preemptions;

	private final boolean everyAccess;

	private final boolean traced;

	private final DataRaces races = new DataRaces();

	private final List<Integer> choices = new ArrayList<>();

	private final List<Integer> options = new ArrayList<>();

	private final List<String> trace = new ArrayList<>();

	/** The threads that can run. Only the thread that runs uses the list. */
	private final List<ModelThread> ready = new ArrayList<>();

	/** The threads that have not ended. */
	private final AtomicInteger running = new AtomicInteger();

	/** Has a permit once all threads have ended, so that the explorer wakes up once. */
	private final Semaphore ended = new Semaphore(0);

	private ModelThread[] threads = {};

	private int preempted;

	private int steps;

	private Throwable failure;

	Run(int[] prefix, int preemptions, boolean everyAccess, boolean traced) {
		this.prefix = prefix;
		this.preemptions = preemptions;
		this.everyAccess = everyAccess;
		this.traced = traced;
	}

	/** Runs the tasks, each on one of the given threads. */
	void run(List<Runnable> tasks, List<ModelThread> pool) {
		this.threads = pool.subList(0, tasks.size()).toArray(ModelThread[]::new);
		this.running.set(this.threads.length);
		for (ModelThread thread : this.threads) {
			thread.join(this, tasks.get(thread.index));
		}
		this.threads[0].resumeRun();
		this.ended.acquireUninterruptibly();
	}

	DataRaces races() {
		return this.races;
	}

	/** Called before the current thread accesses a plain field or an element. */
	void beforePlainStep(ModelThread current) {
		if (this.everyAccess) {
			beforeStep(current);
		}
	}

	/** Called before a step of the current thread. May let another thread run first. */
	void beforeStep(ModelThread current) {
		if (this.failure != null) {
			throw new Aborted();
		}
		if (++this.steps > MOST_STEPS) {
			abort(current, new AssertionError("The threads do not end"));
		}
		if (this.preempted < this.preemptions) {
			ModelThread next = choose(current);
			if (next != current) {
				this.preempted++;
				switchTo(current, next);
			}
		}
	}

	/** Lets another thread run, since the current thread is blocked. */
	void block(ModelThread current) {
		if (this.failure != null) {
			throw new Aborted();
		}
		ModelThread next = choose(null);
		if (next == null) {
			abort(current, new AssertionError("All threads are waiting: " + describe()));
		}
		if (next != current) {
			switchTo(current, next);
		}
	}

	/** Lets other threads run, since the current thread waits for them in a loop. */
	void letOthersRun(ModelThread current) {
		if (++this.steps > MOST_STEPS) {
			abort(current, new AssertionError("The threads do not end"));
		}
		current.state = ModelThread.State.WAITING;
		ModelThread next = choose(null);
		current.state = ModelThread.State.RUNNABLE;
		if (next != null) {
			switchTo(current, next);
		}
	}

	void end(ModelThread current, Throwable thrown) {
		current.state = ModelThread.State.ENDED;
		boolean failedBefore = this.failure != null;
		if (thrown != null && !(thrown instanceof Aborted)) {
			fail(thrown);
		}
		ModelThread next = (this.failure != null) ? null : choose(null);
		if (next != null) {
			note(current, next);
			next.resumeRun();
		}
		else if (this.failure == null && !haveAllEnded()) {
			fail(new AssertionError("All threads are waiting: " + describe()));
		}
		if (this.failure != null && !failedBefore) {
			abortOthers(current);
		}
		if (this.running.decrementAndGet() == 0) {
			this.ended.release();
		}
	}

	private boolean haveAllEnded() {
		return Arrays.stream(this.threads).allMatch((thread) -> thread.state == ModelThread.State.ENDED);
	}

	private void abortOthers(ModelThread current) {
		for (ModelThread thread : this.threads) {
			if (thread != current && thread.state != ModelThread.State.ENDED) {
				thread.resumeRun();
			}
		}
	}

	/**
	 * Chooses one of the threads that can run.
	 * @param current the current thread, which is the first choice, null if it cannot run
	 * @return the thread, null if none can run
	 */
	private ModelThread choose(ModelThread current) {
		this.ready.clear();
		if (current != null) {
			this.ready.add(current);
		}
		for (ModelThread thread : this.threads) {
			if (thread != current && thread.state == ModelThread.State.RUNNABLE) {
				this.ready.add(thread);
			}
		}
		if (this.ready.size() < 2) {
			return this.ready.isEmpty() ? null : this.ready.get(0);
		}
		int step = this.choices.size();
		int choice = (step < this.prefix.length) ? this.prefix[step] : 0;
		this.choices.add(choice);
		this.options.add(this.ready.size());
		return this.ready.get(choice);
	}

	private void switchTo(ModelThread current, ModelThread next) {
		note(current, next);
		next.resumeRun();
		current.awaitResume();
		if (this.failure != null) {
			throw new Aborted();
		}
	}

	void abort(ModelThread current, Throwable reason) {
		if (this.failure == null) {
			note(current, current);
			fail(reason);
			abortOthers(current);
		}
		throw new Aborted();
	}

	void fail(Throwable reason) {
		if (this.failure == null) {
			this.failure = reason;
		}
	}

	private void note(ModelThread current, ModelThread next) {
		if (this.traced) {
			this.trace.add("thread %d %s, then thread %d".formatted(current.index, current.position(), next.index));
		}
	}

	private String describe() {
		StringBuilder text = new StringBuilder();
		for (ModelThread thread : this.threads) {
			text.append("thread ").append(thread.index).append(' ').append(thread.state).append("; ");
		}
		return text.toString();
	}

	Throwable failure() {
		return this.failure;
	}

	List<String> trace() {
		return this.trace;
	}

	int[] choices() {
		return this.choices.stream().mapToInt(Integer::intValue).toArray();
	}

	int[] options() {
		return this.options.stream().mapToInt(Integer::intValue).toArray();
	}

	/** Ends a thread after the interleaving has failed. */
	static final class Aborted extends Error {

		private static final long serialVersionUID = 1;

		Aborted() {
			super(null, null, false, false);
		}

	}

}
