package io.timingwheel.spring;

import java.io.IOException;
import java.io.UncheckedIOException;

/** Signals to other processes. */
public final class Signals {

	private Signals() {
	}

	public static void send(String signal, long pid) {
		try {
			int status = new ProcessBuilder("kill", "-" + signal, String.valueOf(pid)).inheritIO().start().waitFor();
			if (status != 0) {
				throw new IllegalStateException("kill -%s said %d".formatted(signal, status));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
