package io.timingwheel;

/**
 * Space before the fields of a subclass, against false sharing. If one thread writes a
 * field often, other threads must not read fields in the same cache line, nor in the
 * neighbouring line that the processor fetches with it. The garbage collector may put any
 * object next to this one, so such fields need the same space after them. The JVM orders
 * the fields of a class by their size, but puts them after the fields of its superclass.
 * A subclass of the subclass therefore declares the space after the fields.
 */
@SuppressWarnings("unused")
abstract class Padding {

	/** Fills a gap. The JVM could otherwise put a field of the subclass there. */
	private int gap;

	private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14;

}
