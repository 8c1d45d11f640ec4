package io.timingwheel.interleaving;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.HashMap;
import java.util.Map;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Loads the classes of the core and of its tests once more, and instruments them so that
 * they report each step to {@link Hooks}.
 */
public final class InstrumentingClassLoader extends ClassLoader {

	private static final String HOOKS = InstrumentingClassLoader.class.getPackageName() + ".";

	private static final InstrumentingClassLoader INSTANCE = new InstrumentingClassLoader(
			InstrumentingClassLoader.class.getClassLoader());

	/** The modifiers of the fields that a class declares. */
	private final Map<String, Map<String, Integer>> fields = new HashMap<>();

	private InstrumentingClassLoader(ClassLoader parent) {
		super(parent);
	}

	/**
	 * The same class, instrumented, as all classes of the core and its tests that it
	 * uses.
	 */
	public static Class<?> instrumented(Class<?> type) {
		try {
			return INSTANCE.loadClass(type.getName());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The only constructor of the instrumented class. */
	public static Constructor<?> constructor(Class<?> type) {
		Constructor<?> constructor = instrumented(type).getDeclaredConstructors()[0];
		constructor.setAccessible(true);
		return constructor;
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		if (!name.startsWith("io.timingwheel.") || name.startsWith(HOOKS)) {
			return super.loadClass(name, resolve);
		}
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			return (loaded != null) ? loaded : define(name);
		}
	}

	private Class<?> define(String name) {
		try (InputStream in = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
			ClassReader reader = new ClassReader(in);
			ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
			reader.accept(new InstrumentingClassVisitor(writer, this), 0);
			byte[] bytes = writer.toByteArray();
			return defineClass(name, bytes, 0, bytes.length);
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
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
