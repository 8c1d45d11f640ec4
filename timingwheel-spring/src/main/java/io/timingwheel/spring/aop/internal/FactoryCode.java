package io.timingwheel.spring.aop.internal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Reads from the code of a factory method what it creates. The return type may be an
 * interface, and calling the method would create the bean.
 */
final class FactoryCode {

	private FactoryCode() {
	}

	/**
	 * Returns the classes of which a method calls the constructor.
	 */
	static Set<Class<?>> createdBy(Method method, @Nullable ClassLoader classLoader) {
		Class<?> declaring = ClassUtils.getUserClass(method.getDeclaringClass());
		Set<String> names = new LinkedHashSet<>();
		try (InputStream code = declaring.getResourceAsStream(ClassUtils.getClassFileName(declaring))) {
			if (code != null) {
				new ClassReader(code).accept(new Visitor(method, names),
						ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | RuntimeException ex) {
			return Set.of();
		}
		Set<Class<?>> types = new LinkedHashSet<>();
		for (String name : names) {
			if (ClassUtils.isPresent(name, classLoader)) {
				types.add(ClassUtils.resolveClassName(name, classLoader));
			}
		}
		return types;
	}

	private static final class Visitor extends ClassVisitor {

		private final Method method;

		private final Set<String> names;

		Visitor(Method method, Set<String> names) {
			super(SpringAsmInfo.ASM_VERSION);
			this.method = method;
			this.names = names;
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			if (!name.equals(this.method.getName()) || !descriptor.equals(Type.getMethodDescriptor(this.method))) {
				return null;
			}
			return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

				@Override
				public void visitTypeInsn(int opcode, String type) {
					if (opcode == Opcodes.NEW) {
						Visitor.this.names.add(ClassUtils.convertResourcePathToClassName(type));
					}
				}

			};
		}

	}

}
