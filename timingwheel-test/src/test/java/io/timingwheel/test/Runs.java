package io.timingwheel.test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.timingwheel.spring.task.DelayedTaskContext;
import org.jspecify.annotations.Nullable;

/** The bodies that have run, with their virtual times. */
class Runs {

	private final List<Run> runs = new ArrayList<>();

	private final VirtualTime time;

	private Body body = Body.NOTHING;

	Runs(VirtualTime time) {
		this.time = time;
	}

	void add(String name) {
		this.runs
			.add(new Run(name, this.time.now(), Thread.currentThread(), DelayedTaskContext.current().orElse(null)));
	}

	/** Notes a run, and does what the test wants of each body. */
	void run(String name) {
		add(name);
		this.body.run(name);
	}

	void setBody(Body body) {
		this.body = body;
	}

	List<String> names() {
		return this.runs.stream().map(Run::name).toList();
	}

	List<Instant> all() {
		return this.runs.stream().map(Run::at).toList();
	}

	List<Thread> threads() {
		return this.runs.stream().map(Run::thread).toList();
	}

	List<DelayedTaskContext> contexts() {
		return this.runs.stream().map(Run::context).toList();
	}

	List<Instant> of(String name) {
		return this.runs.stream().filter((run) -> run.name().equals(name)).map(Run::at).toList();
	}

	void clear() {
		this.runs.clear();
		this.body = Body.NOTHING;
	}

	/** What a task of a test does. */
	@FunctionalInterface
	interface Body {

		Body NOTHING = (name) -> {
		};

		void run(String name);

	}

	private record Run(String name, Instant at, Thread thread, @Nullable DelayedTaskContext context) {

	}

}
