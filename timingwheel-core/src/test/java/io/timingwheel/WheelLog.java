package io.timingwheel;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.ConsoleHandler;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.MemoryHandler;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Records the messages that the wheel logs, and keeps them out of the build's output. */
final class WheelLog implements BeforeEachCallback, AfterEachCallback {

	private final Logger logger = Logger.getLogger(TimingWheel.class.getName());

	private final List<LogRecord> records = new CopyOnWriteArrayList<>();

	/** Whether each record makes the log throw an exception. */
	boolean failing;

	/** Passes nothing on, since publish is replaced. */
	private final Handler handler = new MemoryHandler(new ConsoleHandler(), 1, Level.OFF) {

		@Override
		public void publish(LogRecord logRecord) {
			WheelLog.this.records.add(logRecord);
			if (WheelLog.this.failing) {
				throw new IllegalStateException("The disk is full");
			}
		}

	};

	@Override
	public void beforeEach(ExtensionContext context) {
		this.logger.setUseParentHandlers(false);
		this.logger.addHandler(this.handler);
	}

	@Override
	public void afterEach(ExtensionContext context) {
		this.logger.removeHandler(this.handler);
		this.logger.setUseParentHandlers(true);
	}

	List<LogRecord> records() {
		return this.records;
	}

}
