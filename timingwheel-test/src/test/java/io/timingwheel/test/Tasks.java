package io.timingwheel.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;

/**
 * Tasks in memory of all kinds. Each writes down when and where it has run.
 */
class Tasks {

	static final String OTHER_EXECUTOR = "other";

	private final VirtualTime time;

	private final List<String> log = new ArrayList<>();

	private Body body = Body.NOTHING;

	Tasks(VirtualTime time) {
		this.time = time;
	}

	void setBody(Body body) {
		this.body = body;
	}

	List<String> log() {
		return this.log;
	}

	@Delayed(delayExpression = "#delay", name = "plain", key = "#key")
	public void plain(String key, Duration delay) throws Exception {
		run(key);
	}

	@Delayed(delayExpression = "#delay", name = "named", executor = OTHER_EXECUTOR)
	public CompletableFuture<String> named(String key, Duration delay) throws Exception {
		run(key);
		return CompletableFuture.completedFuture(key);
	}

	@Delayed(delay = "1h", name = "failing")
	public CompletableFuture<String> failing() {
		return CompletableFuture.failedFuture(new IllegalStateException("async"));
	}

	@Timeout("2s")
	public String limited(Runnable work) {
		work.run();
		return "done";
	}

	@Timeout("2s")
	public CompletableFuture<String> answer() {
		return new CompletableFuture<>();
	}

	private void run(String key) throws Exception {
		this.log.add(key + " at " + this.time.now() + " on " + Thread.currentThread().getName());
		this.body.run(key);
	}

}
