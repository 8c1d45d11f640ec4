package io.timingwheel.interleaving;

import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.Remapper;

/**
 * Replaces locks and {@code LockSupport} by their models, replaces monitors by locks, and
 * inserts a call before each access to a field or element that threads may share, but not
 * in constructors, since no other thread knows the object yet.
 */
final class InstrumentingClassVisitor extends ClassVisitor {

	private static final String LOCKS = "java/util/concurrent/locks/";

	private final InstrumentingClassLoader fields;

	private String type;

	InstrumentingClassVisitor(ClassVisitor next, InstrumentingClassLoader fields) {
		super(Opcodes.ASM9, new ClassRemapper(next, new Locks()));
		this.fields = fields;
	}

	@Override
	public void visit(int version, int access, String name, String signature, String superName, String[] interfaces) {
		this.type = name;
		super.visit(version, access, name, signature, superName, interfaces);
	}

	@Override
	public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
			String[] exceptions) {
		if (name.equals("<clinit>")) {
			// A class whose initializer fails cannot be used again.
			return super.visitMethod(access, name, descriptor, signature, exceptions);
		}
		if (name.equals("<init>")) {
			return reporting(super.visitMethod(access, name, descriptor, signature, exceptions));
		}
		if ((access & Opcodes.ACC_SYNCHRONIZED) == 0) {
			return instrumenting(super.visitMethod(access, name, descriptor, signature, exceptions));
		}
		String body = name + "$locked";
		lockAround(super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, name, descriptor, signature, exceptions), body,
				descriptor);
		return instrumenting(super.visitMethod(Opcodes.ACC_PRIVATE, body, descriptor, signature, exceptions));
	}

	private MethodVisitor instrumenting(MethodVisitor next) {
		return new InstrumentingMethodVisitor(reporting(next), this.fields);
	}

	/**
	 * What a class of tests does itself does not count. A race in a class of its own
	 * does.
	 */
	private MethodVisitor reporting(MethodVisitor next) {
		return this.type.contains("Tests") ? next : new ReportingMethodVisitor(next, this.type);
	}

	/** Writes a method that locks and calls the body of the synchronized method. */
	private void lockAround(MethodVisitor method, String body, String descriptor) {
		Label begin = new Label();
		Label end = new Label();
		Label failed = new Label();
		method.visitCode();
		method.visitTryCatchBlock(begin, end, failed, null);
		call(method, "enter");
		method.visitLabel(begin);
		method.visitVarInsn(Opcodes.ALOAD, 0);
		int local = 1;
		for (Type argument : Type.getArgumentTypes(descriptor)) {
			method.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), local);
			local += argument.getSize();
		}
		method.visitMethodInsn(Opcodes.INVOKESPECIAL, this.type, body, descriptor, false);
		method.visitLabel(end);
		call(method, "exit");
		method.visitInsn(Type.getReturnType(descriptor).getOpcode(Opcodes.IRETURN));
		method.visitLabel(failed);
		method.visitFrame(Opcodes.F_SAME1, 0, null, 1, new Object[] { "java/lang/Throwable" });
		call(method, "exit");
		method.visitInsn(Opcodes.ATHROW);
		method.visitMaxs(0, 0);
		method.visitEnd();
	}

	private static void call(MethodVisitor method, String hook) {
		method.visitVarInsn(Opcodes.ALOAD, 0);
		method.visitMethodInsn(Opcodes.INVOKESTATIC, InstrumentingMethodVisitor.HOOKS, hook, "(Ljava/lang/Object;)V",
				false);
	}

	private static final class Locks extends Remapper {

		Locks() {
			super(Opcodes.ASM9);
		}

		@Override
		public String map(String name) {
			if (name.equals(LOCKS + "ReentrantLock")) {
				return Type.getInternalName(ModelLock.class);
			}
			if (name.equals(LOCKS + "LockSupport")) {
				return Type.getInternalName(ModelLockSupport.class);
			}
			if (name.startsWith(LOCKS)) {
				throw new IllegalStateException("No model of " + name);
			}
			return name;
		}

	}

}
