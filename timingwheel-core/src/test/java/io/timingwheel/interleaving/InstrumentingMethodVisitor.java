package io.timingwheel.interleaving;

import java.util.Set;

import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Inserts a call of a {@link Hooks hook} before each access.
 */
final class InstrumentingMethodVisitor extends MethodVisitor {

	static final String HOOKS = Type.getInternalName(Hooks.class);

	/** Their lock spins in real time. Here its methods count as those of a lock. */
	private static final Set<String> SHARD_LOCKS = Set.of("io/timingwheel/ShardLock", "io/timingwheel/Shard");

	private static final Set<String> LOCK_METHODS = Set.of("lock", "lockNext", "close");

	private static final String ACCESS = "(Ljava/lang/Object;Ljava/lang/String;Z)V";

	private final InstrumentingClassLoader fields;

	InstrumentingMethodVisitor(MethodVisitor next, InstrumentingClassLoader fields) {
		super(Opcodes.ASM9, next);
		this.fields = fields;
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		boolean write = opcode == Opcodes.PUTFIELD;
		if ((write || opcode == Opcodes.GETFIELD) && !this.fields.isFinal(owner, name)) {
			if (!write) {
				super.visitInsn(Opcodes.DUP);
			}
			else if (Type.getType(descriptor).getSize() == 1) {
				super.visitInsn(Opcodes.DUP2);
				super.visitInsn(Opcodes.POP);
			}
			else {
				super.visitInsn(Opcodes.DUP2_X1);
				super.visitInsn(Opcodes.POP2);
				super.visitInsn(Opcodes.DUP_X2);
			}
			super.visitLdcInsn(owner.substring(owner.lastIndexOf('/') + 1) + "." + name);
			super.visitInsn(write ? Opcodes.ICONST_1 : Opcodes.ICONST_0);
			hook(this.fields.isVolatile(owner, name) ? "ordered" : "plain", ACCESS);
		}
		super.visitFieldInsn(opcode, owner, name, descriptor);
	}

	@Override
	public void visitInsn(int opcode) {
		switch (opcode) {
			case Opcodes.AALOAD, Opcodes.LALOAD, Opcodes.IALOAD, Opcodes.BALOAD -> {
				super.visitInsn(Opcodes.DUP2);
				element(false);
			}
			case Opcodes.AASTORE, Opcodes.IASTORE, Opcodes.BASTORE -> {
				super.visitInsn(Opcodes.DUP_X2);
				super.visitInsn(Opcodes.POP);
				super.visitInsn(Opcodes.DUP2_X1);
				element(true);
			}
			case Opcodes.LASTORE -> {
				super.visitInsn(Opcodes.DUP2_X2);
				super.visitInsn(Opcodes.POP2);
				super.visitInsn(Opcodes.DUP2_X2);
				element(true);
			}
			case Opcodes.MONITORENTER -> {
				hook("enter", "(Ljava/lang/Object;)V");
				return;
			}
			case Opcodes.MONITOREXIT -> {
				hook("exit", "(Ljava/lang/Object;)V");
				return;
			}
			default -> {
			}
		}
		super.visitInsn(opcode);
	}

	private void element(boolean write) {
		super.visitInsn(write ? Opcodes.ICONST_1 : Opcodes.ICONST_0);
		hook("element", "(Ljava/lang/Object;IZ)V");
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		if (owner.equals("java/lang/Thread") && (name.equals("onSpinWait") || name.equals("yield"))) {
			hook("spin", "()V");
			return;
		}
		if (owner.equals("java/lang/Thread") && (name.equals("getId") || name.equals("threadId"))) {
			hook("id", "(Ljava/lang/Thread;)J");
			return;
		}
		if (SHARD_LOCKS.contains(owner) && LOCK_METHODS.contains(name)) {
			boolean close = name.equals("close");
			if (!close) {
				// The methods return the lock.
				super.visitInsn(Opcodes.DUP);
			}
			hook(close ? "exit" : "enter", "(Ljava/lang/Object;)V");
			return;
		}
		if (isAtomic(owner) && !name.equals("<init>")) {
			hook("atomic", "()V");
		}
		super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
	}

	private static boolean isAtomic(String owner) {
		return owner.equals("java/lang/invoke/VarHandle") || owner.equals("java/util/Set")
				|| (owner.startsWith("java/util/concurrent/") && !owner.startsWith("java/util/concurrent/locks/")
						&& !owner.equals("java/util/concurrent/TimeUnit"));
	}

	private void hook(String name, String descriptor) {
		super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
	}

}
