package io.timingwheel.interleaving;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Opcodes;

/**
 * The modifiers of the fields that the classes of the core declare.
 */
final class FieldModifiers {

	private final Function<String, byte[]> classes;

	private final Map<String, Map<String, Integer>> known = new HashMap<>();

	FieldModifiers(Function<String, byte[]> classes) {
		this.classes = classes;
	}

	boolean isFinal(String type, String field) {
		return (modifiers(type, field) & Opcodes.ACC_FINAL) != 0;
	}

	boolean isVolatile(String type, String field) {
		return (modifiers(type, field) & Opcodes.ACC_VOLATILE) != 0;
	}

	private int modifiers(String type, String field) {
		return this.known.computeIfAbsent(type, this::read).getOrDefault(field, 0);
	}

	private Map<String, Integer> read(String type) {
		Map<String, Integer> modifiers = new HashMap<>();
		new ClassReader(this.classes.apply(type)).accept(new ClassVisitor(Opcodes.ASM9) {

			@Override
			public FieldVisitor visitField(int access, String name, String descriptor, String signature, Object value) {
				modifiers.put(name, access);
				return null;
			}

		}, ClassReader.SKIP_CODE);
		return modifiers;
	}

}
