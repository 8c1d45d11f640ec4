package io.timingwheel.probe;

import java.lang.reflect.Constructor;

import io.timingwheel.instrumentation.CoreClassLoader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Instruments the classes of the core so that they report each allocation, each reading
 * of the clock, and each rejection to {@link Probes}. The classes of the tests stay as
 * they are.
 */
public final class ProbingClassLoader extends CoreClassLoader {

	private ProbingClassLoader() {
		super(ProbingClassLoader.class.getClassLoader());
	}

	/**
	 * Creates an instance of a class of the tests that uses the instrumented core.
	 */
	public static Object newInstance(Class<?> type) throws ReflectiveOperationException {
		Constructor<?> constructor = Class.forName(type.getName(), true, new ProbingClassLoader())
			.getDeclaredConstructor();
		constructor.setAccessible(true);
		return constructor.newInstance();
	}

	/**
	 * The same constant of an enum of the tests that uses the instrumented core.
	 */
	public static Object instrumented(Enum<?> constant) {
		return new ProbingClassLoader().again(constant);
	}

	@Override
	protected ClassVisitor instrument(String name, ClassWriter writer) {
		return name.contains("Tests") ? writer : new Instrumentation(writer);
	}

	private static final class Instrumentation extends ClassVisitor {

		Instrumentation(ClassVisitor next) {
			super(Opcodes.ASM9, next);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, String signature,
				String[] exceptions) {
			MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
			// A class whose initializer fails cannot be used again.
			return name.equals("<clinit>") ? next : new Method(next);
		}

	}

	private static final class Method extends MethodVisitor {

		Method(MethodVisitor next) {
			super(Opcodes.ASM9, next);
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

		/**
		 * Reports the calls of the JDK that may allocate, and those that read the clock.
		 */
		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			boolean addToSet = name.equals("add") && owner.equals("java/util/Set");
			if (addToSet || name.equals("copyOf") || name.equals("ensureCapacity")
					|| (name.equals("add") && owner.equals("java/util/List"))) {
				report("allocation");
			}
			if (name.equals("nanoTime") && owner.equals("io/timingwheel/TimeSource")) {
				report("clockReading");
			}
			if (name.equals("<init>") && owner.equals("java/util/concurrent/RejectedExecutionException")) {
				report("rejection");
			}
			super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
			if (addToSet) {
				// A concurrent set may grow after it has taken the element.
				report("allocation");
			}
		}

		private void report(String step) {
			super.visitMethodInsn(Opcodes.INVOKESTATIC, Type.getInternalName(Probes.class), step, "()V", false);
		}

	}

}
