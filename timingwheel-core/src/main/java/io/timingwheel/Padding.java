package io.timingwheel;

/**
 * Room before the fields of a subclass, against false sharing. A field that one thread
 * writes with each call must not share a cache line, nor the neighbouring line that the
 * processor fetches with it, with fields that other threads read, wherever the garbage
 * collector puts the objects. The subclass declares as much room after such fields.
 */
@SuppressWarnings("unused")
abstract class Padding {

	/** Fills the gap in which the JVM could otherwise put a field of the subclass. */
	private int gap;

	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

}
