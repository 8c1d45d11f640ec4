package io.timingwheel;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A task that remembers when and on which thread it ran. */
class RecordingTask implements Runnable {

	private final TimeSource clock;

	private final List<Run> runs = new CopyOnWriteArrayList<>();

	RecordingTask(TimeSource clock) {
		this.clock = clock;
	}

	@Override
	public void run() {
		this.runs.add(new Run(this.clock.nanoTime(), Thread.currentThread()));
	}

	int count() {
		return this.runs.size();
	}

	/** The reading of the clock at each run. */
	List<Long> times() {
		return this.runs.stream().map(Run::time).toList();
	}

	List<Thread> threads() {
		return this.runs.stream().map(Run::thread).toList();
	}

	private record Run(long time, Thread thread) {

	}

}
