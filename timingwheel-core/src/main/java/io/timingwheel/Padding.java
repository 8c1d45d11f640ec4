package io.timingwheel;

/**
 * Room before the fields of a subclass. What one thread writes with each call must not
 * share a cache line, or the one that the processor fetches with it, with what other
 * threads read, wherever the garbage collector puts the objects. The subclass needs as
 * much room behind such fields.
 */
@SuppressWarnings("unused")
abstract class Padding {

	/** Leaves no gap in which the JVM could put a field of the subclass. */
	private int gap;

	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

}
