package io.timingwheel.interleaving;

import java.io.IOException;
import java.io.InputStream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;

/**
 * Loads the classes of the core and of its tests once more, instrumented so that they
 * report each step to {@link Hooks}.
 */
final class InstrumentingClassLoader extends ClassLoader {

	private static final String OWN_PACKAGE = InstrumentingClassLoader.class.getPackageName() + ".";

	private final FieldModifiers fields = new FieldModifiers(this::read);

	InstrumentingClassLoader(ClassLoader parent) {
		super(parent);
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		if (!name.startsWith("io.timingwheel.") || name.startsWith(OWN_PACKAGE)) {
			return super.loadClass(name, resolve);
		}
		synchronized (getClassLoadingLock(name)) {
			Class<?> loaded = findLoadedClass(name);
			return (loaded != null) ? loaded : define(name);
		}
	}

	private Class<?> define(String name) {
		ClassReader reader = new ClassReader(read(name.replace('.', '/')));
		ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
		reader.accept(new InstrumentingClassVisitor(writer, this.fields), 0);
		byte[] bytes = writer.toByteArray();
		return defineClass(name, bytes, 0, bytes.length);
	}

	private byte[] read(String internalName) {
		try (InputStream in = getParent().getResourceAsStream(internalName + ".class")) {
			return in.readAllBytes();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
