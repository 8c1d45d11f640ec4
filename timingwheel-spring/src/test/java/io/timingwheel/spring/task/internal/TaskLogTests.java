package io.timingwheel.spring.task.internal;

import java.util.ArrayList;
import java.util.List;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.impl.NoOpLog;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class TaskLogTests {

	private final List<String> lines = new ArrayList<>();

	private final Log logger = new NoOpLog() {

		@Override
		public void debug(Object message) {
			TaskLogTests.this.lines.add("DEBUG " + message);
		}

		@Override
		public void warn(Object message) {
			TaskLogTests.this.lines.add("WARN " + message);
		}

		@Override
		public void error(Object message) {
			TaskLogTests.this.lines.add("ERROR " + message);
		}

	};

	@Test
	void ofManyTasksOnlyTheFirstIsLoggedAboveDebug() {
		TaskLog failures = new TaskLog(this.logger);
		TaskLog deaths = new TaskLog(this.logger);
		for (int i = 0; i < 3; i++) {
			failures.warn("Failed " + i);
			deaths.error("Dead " + i);
		}
		assertThat(this.lines).containsExactly("WARN Failed 0", "ERROR Dead 0", "DEBUG Failed 1", "DEBUG Dead 1",
				"DEBUG Failed 2", "DEBUG Dead 2");
	}

}
