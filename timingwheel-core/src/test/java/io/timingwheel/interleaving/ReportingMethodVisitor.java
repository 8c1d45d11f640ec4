package io.timingwheel.interleaving;

import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Inserts a call of a {@link Hooks hook} before each allocation, also one that a method
 * of the JDK may make, each reading of the clock, and each rejection.
 */
final class ReportingMethodVisitor extends MethodVisitor {

	private final String type;

	/**
	 * Creates a visitor of a method.
	 * @param type the internal name of its class
	 */
	ReportingMethodVisitor(MethodVisitor next, String type) {
		super(Opcodes.ASM9, next);
		this.type = type;
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		super.visitTypeInsn(opcode, type);
		// The stack map frames point at the instruction itself.
		if (opcode == Opcodes.NEW || opcode == Opcodes.ANEWARRAY) {
			report("allocation");
		}
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		if (opcode == Opcodes.NEWARRAY) {
			report("allocation");
		}
		super.visitIntInsn(opcode, operand);
	}

	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
		report("allocation");
		super.visitInvokeDynamicInsn(name, descriptor, bootstrap, arguments);
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		boolean addToSet = name.equals("add") && owner.equals("java/util/Set");
		if (addToSet || name.equals("copyOf") || name.equals("ensureCapacity") || name.equals("put")
				|| (name.equals("add") && owner.equals("java/util/List"))) {
			report("allocation");
		}
		if (name.equals("nanoTime") && owner.equals("io/timingwheel/TimeSource")) {
			report("clockReading");
		}
		if (name.equals("<init>") && owner.equals("java/util/concurrent/RejectedExecutionException")) {
			// A shard rejects under its own lock.
			super.visitInsn(
					this.type.equals("io/timingwheel/HierarchicalTimingWheel") ? Opcodes.ICONST_0 : Opcodes.ICONST_1);
			super.visitMethodInsn(Opcodes.INVOKESTATIC, InstrumentingMethodVisitor.HOOKS, "rejection", "(I)V", false);
		}
		super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
		if (addToSet) {
			// A concurrent set may grow after it has taken the element.
			report("allocation");
		}
	}

	private void report(String step) {
		super.visitMethodInsn(Opcodes.INVOKESTATIC, InstrumentingMethodVisitor.HOOKS, step, "()V", false);
	}

}
