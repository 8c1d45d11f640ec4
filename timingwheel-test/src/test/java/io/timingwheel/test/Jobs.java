package io.timingwheel.test;

import java.time.Duration;

import io.timingwheel.spring.annotation.Backoff;
import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.TaskPolicy;
import io.timingwheel.spring.task.DelayedTask;

/** The same tasks in memory and in a store. Each body notes that it has run. */
interface Jobs {

	/** The name of a task of this kind. */
	String name(String task);

	DelayedTask<Void> run(String key, Duration delay);

	void send();

	void single();

	void index();

	void flaky();

	void stopped();

	class InMemory implements Jobs {

		private final Runs runs;

		InMemory(Runs runs) {
			this.runs = runs;
		}

		@Override
		public String name(String task) {
			return task;
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "run", key = "#key")
		public DelayedTask<Void> run(String key, Duration delay) {
			this.runs.run(key);
			return DelayedTask.completed(null);
		}

		@Override
		@Delayed(delay = "1s", name = "sent", policy = @TaskPolicy(rate = "1/m"))
		public void send() {
			this.runs.run("sent");
		}

		@Override
		@Delayed(delay = "1s", name = "single", policy = @TaskPolicy(maxConcurrent = 1))
		public void single() {
			this.runs.run("single");
		}

		@Override
		@Delayed(delay = "10s", name = "index", key = "'all'", maxWait = "30s")
		public void index() {
			this.runs.run("index");
		}

		@Override
		@Delayed(delay = "1s", name = "flaky",
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "10s")))
		public void flaky() {
			this.runs.run("flaky");
		}

		@Override
		@Delayed(delay = "1s", name = "stopped")
		public void stopped() {
			this.runs.run("stopped");
		}

	}

	class Stored implements Jobs {

		private final Runs runs;

		Stored(Runs runs) {
			this.runs = runs;
		}

		@Override
		public String name(String task) {
			return "stored-" + task;
		}

		@Override
		@Delayed(delayExpression = "#delay", name = "stored-run", aliases = "former", key = "#key", durable = true)
		public DelayedTask<Void> run(String key, Duration delay) {
			this.runs.run(key);
			return DelayedTask.completed(null);
		}

		@Override
		@Delayed(delay = "1s", name = "stored-sent", policy = @TaskPolicy(rate = "1/m"), durable = true)
		public void send() {
			this.runs.run("sent");
		}

		@Override
		@Delayed(delay = "1s", name = "stored-single", policy = @TaskPolicy(maxConcurrent = 1), durable = true)
		public void single() {
			this.runs.run("single");
		}

		@Override
		@Delayed(delay = "10s", name = "stored-index", key = "'all'", maxWait = "30s", durable = true)
		public void index() {
			this.runs.run("index");
		}

		@Override
		@Delayed(delay = "1s", name = "stored-flaky",
				policy = @TaskPolicy(maxAttempts = 3, backoff = @Backoff(initial = "10s")), durable = true)
		public void flaky() {
			this.runs.run("flaky");
		}

		@Override
		@Delayed(delay = "1s", name = "stored-stopped", durable = true)
		public void stopped() {
			this.runs.run("stopped");
		}

	}

}
