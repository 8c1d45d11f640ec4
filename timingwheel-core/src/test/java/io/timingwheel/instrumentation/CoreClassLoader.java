package io.timingwheel.instrumentation;

import java.io.IOException;
import java.io.InputStream;

import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Loads the classes of the core and of its tests once more, and instruments them. The
 * package of the subclass is not loaded again, since the instrumented classes report to
 * it.
 */
public abstract class CoreClassLoader extends ClassLoader {

	private final String reports = getClass().getPackageName() + ".";

	protected CoreClassLoader(ClassLoader parent) {
		super(parent);
	}

	/**
	 * Gives the visitor that instruments a class.
	 * @param name the name of the class
	 * @param writer takes the instrumented class
	 */
	protected abstract ClassVisitor instrument(String name, ClassWriter writer);

	/**
	 * Gives the constant of an enum that this loader has loaded once more.
	 */
	protected Object again(Enum<?> constant) {
		try {
			return loadClass(constant.getDeclaringClass().getName()).getEnumConstants()[constant.ordinal()];
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Override
	protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
		if (!name.startsWith("io.timingwheel.") || name.startsWith(this.reports)) {
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
		reader.accept(instrument(name, writer), 0);
		byte[] bytes = writer.toByteArray();
		return defineClass(name, bytes, 0, bytes.length);
	}

	/**
	 * Reads the class file of a class.
	 * @param internalName its name, with slashes
	 */
	protected byte[] read(String internalName) {
		try (InputStream in = getParent().getResourceAsStream(internalName + ".class")) {
			return in.readAllBytes();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
