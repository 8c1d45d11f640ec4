package io.timingwheel.sample.search;

import org.springframework.stereotype.Component;

/** Counts what happens to the documents and their index. Thread-safe. */
@Component
class Documents {

	private long changes;

	private long indexed;

	private long builds;

	synchronized void changed() {
		this.changes++;
	}

	synchronized void indexed() {
		this.indexed = this.changes;
		this.builds++;
	}

	synchronized Figures figures() {
		return new Figures(this.changes, this.indexed, this.builds);
	}

	/**
	 * The figures since the start.
	 *
	 * @param changes how often a document changed
	 * @param indexed how many of the changes the index contains
	 * @param builds how often the index was built
	 */
	record Figures(long changes, long indexed, long builds) {
	}

}
