package io.timingwheel.spring.durable;

import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;

/**
 * The messages that a part of a test logs, so that tests that read their log can run in
 * parallel. A thread belongs to the log that it was started in. Spring Boot's captured
 * output is that of all tests which run at the time.
 */
public final class TestLog implements CharSequence {

	private final StringBuffer messages = new StringBuffer();

	private final ThreadGroup threads = new Threads(this.messages);

	/**
	 * Runs some code on a thread of its own. Messages of this thread and of all threads
	 * that it starts are from now on in this log.
	 * @param code the code
	 * @return the result of the code
	 */
	public <T> T of(Callable<T> code) throws Exception {
		FutureTask<T> task = new FutureTask<>(code);
		new Thread(this.threads, task).start();
		return task.get();
	}

	@Override
	public int length() {
		return this.messages.length();
	}

	@Override
	public char charAt(int index) {
		return this.messages.charAt(index);
	}

	@Override
	public CharSequence subSequence(int start, int end) {
		return this.messages.subSequence(start, end);
	}

	@Override
	public String toString() {
		return this.messages.toString();
	}

	private static final class Threads extends ThreadGroup {

		private final StringBuffer messages;

		Threads(StringBuffer messages) {
			super("test");
			this.messages = messages;
		}

	}

	/** Adds each message to the log of its thread, if there is one. */
	public static final class Appender extends AppenderBase<ILoggingEvent> {

		@Override
		protected void append(ILoggingEvent event) {
			if (Thread.currentThread().getThreadGroup() instanceof Threads threads) {
				threads.messages.append(event.getFormattedMessage()).append('\n');
			}
		}

	}

}
