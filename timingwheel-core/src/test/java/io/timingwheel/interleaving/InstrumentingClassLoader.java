package io.timingwheel.interleaving;

import io.timingwheel.instrumentation.CoreClassLoader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;

/**
 * Instruments the classes so that they report each step to {@link Hooks}.
 */
final class InstrumentingClassLoader extends CoreClassLoader {

	private final FieldModifiers fields = new FieldModifiers(this::read);

	InstrumentingClassLoader(ClassLoader parent) {
		super(parent);
	}

	@Override
	protected ClassVisitor instrument(String name, ClassWriter writer) {
		return new InstrumentingClassVisitor(writer, this.fields);
	}

}
