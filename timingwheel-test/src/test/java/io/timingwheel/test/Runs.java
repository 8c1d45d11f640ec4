package io.timingwheel.test;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * The names of the bodies that have run, each with its virtual time.
 */
class Runs {

	private final List<Run> runs = new ArrayList<>();

	private final VirtualTime time;

	Runs(VirtualTime time) {
		this.time = time;
	}

	void add(String name) {
		this.runs.add(new Run(name, this.time.now()));
	}

	List<Instant> all() {
		return this.runs.stream().map(Run::at).toList();
	}

	List<Instant> of(String name) {
		return this.runs.stream().filter((run) -> run.name().equals(name)).map(Run::at).toList();
	}

	void clear() {
		this.runs.clear();
	}

	private record Run(String name, Instant at) {

	}

}
