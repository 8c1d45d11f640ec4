package io.timingwheel.spring.faults;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.ProtectionDomain;
import java.time.Clock;
import java.time.Duration;
import java.util.Date;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.ClassWriter;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;

/**
 * Sets the clock of a JVM wrong. An agent adds an offset wherever a class, also a class
 * of the JDK, reads the time of day. The monotonic clock is unchanged.
 */
final class ShiftedClock implements ClassFileTransformer {

	private final long offsetMillis;

	private ShiftedClock(long offsetMillis) {
		this.offsetMillis = offsetMillis;
	}

	static List<String> jvmOptions(Duration offset) {
		Manifest manifest = new Manifest();
		manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
		manifest.getMainAttributes().putValue("Premain-Class", ShiftedClock.class.getName());
		manifest.getMainAttributes().putValue("Can-Retransform-Classes", "true");
		try {
			// The jar has only a manifest, because the agent is on the class path.
			Path jar = NodeProcess.temporary("agent", ".jar");
			try (OutputStream out = Files.newOutputStream(jar)) {
				new JarOutputStream(out, manifest).close();
			}
			return List.of("-javaagent:%s=%d".formatted(jar, offset.toMillis()), "-Xshare:off");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	public static void premain(String offsetMillis, Instrumentation instrumentation) throws Exception {
		instrumentation.addTransformer(new ShiftedClock(Long.parseLong(offsetMillis)), true);
		// Classes that were loaded before the agent.
		instrumentation.retransformClasses(Clock.class, Clock.systemUTC().getClass(), Date.class);
	}

	@Override
	public byte @Nullable [] transform(@Nullable ClassLoader loader, @Nullable String className,
			@Nullable Class<?> classBeingRedefined, @Nullable ProtectionDomain protectionDomain, byte[] classFile) {
		String constants = new String(classFile, StandardCharsets.ISO_8859_1);
		if (!constants.contains("currentTimeMillis") && !constants.contains("getNanoTimeAdjustment")) {
			return null;
		}
		if ("java/lang/System".equals(className) || "jdk/internal/misc/VM".equals(className)) {
			return null;
		}
		ClassReader reader = new ClassReader(classFile);
		ClassWriter writer = new ClassWriter(reader, 0);
		reader.accept(new ClassVisitor(Opcodes.ASM9, writer) {

			@Override
			public MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
					String @Nullable [] exceptions) {
				return new Shift(super.visitMethod(access, name, descriptor, signature, exceptions));
			}

		}, 0);
		return writer.toByteArray();
	}

	private final class Shift extends MethodVisitor {

		Shift(MethodVisitor method) {
			super(Opcodes.ASM9, method);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
			long offset = ShiftedClock.this.offsetMillis;
			if (owner.equals("java/lang/System") && name.equals("currentTimeMillis")) {
				add(offset);
			}
			else if (owner.equals("jdk/internal/misc/VM") && name.equals("getNanoTimeAdjustment")) {
				add(offset * 1_000_000);
			}
		}

		private void add(long offset) {
			visitLdcInsn(offset);
			visitInsn(Opcodes.LADD);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			super.visitMaxs(maxStack + 2, maxLocals);
		}

	}

}
