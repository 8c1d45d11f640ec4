package io.timingwheel.benchmarks.spring;

import java.lang.management.ManagementFactory;

import org.springframework.context.ConfigurableApplicationContext;

/**
 * Measures the bytes that a pending call of a {@code @Delayed} method with a key retains.
 * These include the argument, a {@code Long}, and the text of the key.
 */
public final class PendingCallFootprint {

	private PendingCallFootprint() {
	}

	/**
	 * Prints the bytes per call.
	 * @param args the number of calls, by default a million
	 */
	public static void main(String[] args) {
		int count = (args.length > 0) ? Integer.parseInt(args[0]) : 1_000_000;
		System.out.printf("%.1f bytes per pending keyed @Delayed call%n", measure(count));
	}

	static double measure(int count) {
		try (ConfigurableApplicationContext context = CallApplication.start()) {
			Calls calls = context.getBean(Calls.class);
			calls.farByKey(-1);
			long before = usedBytes();
			// Beyond the cache of Long.
			for (long id = 0; id < count; id++) {
				calls.farByKey(1_000_000_000 + id);
			}
			return (double) (usedBytes() - before) / count;
		}
	}

	/**
	 * The used heap, once a collection frees hardly more than the one before. What
	 * references and cleaners release takes several collections.
	 */
	private static long usedBytes() {
		long used = Long.MAX_VALUE;
		long before;
		do {
			before = used;
			System.gc();
			used = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
		}
		while (used < before - 10_000);
		return used;
	}

}
