package io.timingwheel.interleaving;

import java.util.concurrent.Semaphore;

/**
 * A thread of a {@link Run}. It runs only while the run has resumed it.
 */
final class ModelThread extends Thread {

	final int index;

	private final Semaphore resumed = new Semaphore(0);

	private Run run;

	private Runnable task;

	/** Only the thread that runs reads and writes it. */
	State state = State.ENDED;

	/** Whether the next park returns at once because of an earlier unpark. */
	boolean permit;

	/** How many locks the thread holds. */
	int locks;

	ModelThread(int index) {
		super("model-" + index);
		this.index = index;
		setDaemon(true);
	}

	/** Takes part in a run. */
	void join(Run run, Runnable task) {
		this.run = run;
		this.task = task;
		this.state = State.RUNNABLE;
		this.permit = false;
		this.locks = 0;
	}

	/** Takes part in no further run, so that the thread ends. */
	void leave() {
		this.run = null;
		resumeRun();
	}

	static ModelThread current() {
		return (Thread.currentThread() instanceof ModelThread thread) ? thread : null;
	}

	@Override
	public void run() {
		awaitResume();
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
			// An interrupt must not reach the next run.
			Thread.interrupted();
			this.run.end(this, thrown);
			awaitResume();
		}
	}

	Run scheduler() {
		return this.run;
	}

	void awaitResume() {
		this.resumed.acquireUninterruptibly();
	}

	void resumeRun() {
		this.resumed.release();
	}

	/** Describes the thread's position in the code under test. */
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
