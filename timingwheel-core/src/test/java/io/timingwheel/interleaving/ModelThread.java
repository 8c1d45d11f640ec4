package io.timingwheel.interleaving;

import java.util.concurrent.Semaphore;

/**
 * A thread of a {@link Run}, which goes on only when it is its turn.
 */
final class ModelThread extends Thread {

	final int index;

	private final Semaphore turn = new Semaphore(0);

	private Run run;

	private Runnable task;

	/** Of who has the turn. */
	State state = State.ENDED;

	/** What {@code unpark} has left. */
	boolean permit;

	ModelThread(int index) {
		super("model-" + index);
		this.index = index;
		setDaemon(true);
	}

	/**
	 * Takes part in a run, from its first turn on.
	 */
	void join(Run run, Runnable task) {
		this.run = run;
		this.task = task;
		this.state = State.RUNNABLE;
		this.permit = false;
	}

	/**
	 * Takes part in no more runs.
	 */
	void leave() {
		this.run = null;
		resumeRun();
	}

	static ModelThread current() {
		return (Thread.currentThread() instanceof ModelThread thread) ? thread : null;
	}

	@Override
	public void run() {
		awaitTurn();
		while (this.run != null) {
			Throwable thrown = null;
			if (this.run.failure() == null) {
				try {
					this.task.run();
				}
				catch (Throwable ex) {
					thrown = ex;
				}
			}
			// An interrupt is of this run only.
			Thread.interrupted();
			this.run.end(this, thrown);
			awaitTurn();
		}
	}

	Run scheduler() {
		return this.run;
	}

	void awaitTurn() {
		this.turn.acquireUninterruptibly();
	}

	void resumeRun() {
		this.turn.release();
	}

	/**
	 * Where the thread stands in the code that is tested.
	 */
	String position() {
		if (this.state == State.ENDED) {
			return "ends";
		}
		return StackWalker.getInstance()
			.walk((frames) -> frames
				.filter((frame) -> !frame.getClassName().startsWith(ModelThread.class.getPackageName()))
				.findFirst()
				.map((frame) -> this.state + " before " + frame)
				.orElse("at the start"));
	}

	enum State {

		RUNNABLE, LOCKED_OUT, PARKED, WAITING, ENDED

	}

}
