package io.timingwheel.interleaving;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;

import io.timingwheel.instrumentation.CoreClassLoader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Instruments the classes so that they report each step to {@link Hooks}.
 */
final class InstrumentingClassLoader extends CoreClassLoader {

	/** The modifiers of the fields that a class declares. */
	private final Map<String, Map<String, Integer>> fields = new HashMap<>();

	InstrumentingClassLoader(ClassLoader parent) {
		super(parent);
	}

	@Override
	protected ClassVisitor instrument(String name, ClassWriter writer) {
		return new InstrumentingClassVisitor(writer, this);
	}

	boolean isFinal(String type, String field) {
		return Modifier.isFinal(modifiers(type, field));
	}

	boolean isVolatile(String type, String field) {
		return Modifier.isVolatile(modifiers(type, field));
	}

	private int modifiers(String type, String field) {
		return this.fields.computeIfAbsent(type, (key) -> {
			Map<String, Integer> modifiers = new HashMap<>();
			for (Field each : declaredFields(key.replace('/', '.'))) {
				modifiers.put(each.getName(), each.getModifiers());
			}
			return modifiers;
		}).getOrDefault(field, 0);
	}

	private Field[] declaredFields(String type) {
		try {
			return Class.forName(type, false, getParent()).getDeclaredFields();
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
