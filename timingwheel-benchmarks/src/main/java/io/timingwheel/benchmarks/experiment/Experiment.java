package io.timingwheel.benchmarks.experiment;

import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.timingwheel.benchmarks.peer.Peer;

/** A measurement in a JVM of its own. It returns figures by name. */
public enum Experiment {

	FOOTPRINT(Footprint::measure), LATENESS(Lateness::measure), BUSY_LATENESS(Lateness::measureBehindCallers),
	CALL_TIMES(CallTimes::measure), IDLE(Idle::measure), BURST(Burst::measure);

	private final Body body;

	Experiment(Body body) {
		this.body = body;
	}

	/**
	 * Runs an experiment in this JVM: its name, the peer's name, the number of timers and
	 * the seconds to measure.
	 * @param args the four arguments
	 * @throws Exception if the experiment fails
	 */
	public static void main(String[] args) throws Exception {
		Experiment experiment = valueOf(args[0].toUpperCase(Locale.ROOT));
		Peer peer = Peer.valueOf(args[1].toUpperCase(Locale.ROOT));
		experiment.body.measure(peer, Integer.parseInt(args[2]), Double.parseDouble(args[3]))
			.forEach((name, value) -> System.out.println(name + "=" + value));
		// The threads of some peers would keep the JVM alive.
		System.exit(0);
	}

	/** The time that scheduling so many timers may take before the first one is due. */
	static long leadNanos(int count) {
		return TimeUnit.MILLISECONDS.toNanos(500) + TimeUnit.MICROSECONDS.toNanos(4) * count;
	}

	/** What an experiment does. */
	interface Body {

		Map<String, Double> measure(Peer peer, int count, double seconds) throws Exception;

	}

}
