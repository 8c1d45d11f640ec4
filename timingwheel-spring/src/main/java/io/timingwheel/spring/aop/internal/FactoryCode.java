package io.timingwheel.spring.aop.internal;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Reads from the code of a factory method what it creates. The return type may be an
 * interface, and calling the method would create the bean.
 */
final class FactoryCode {

	private FactoryCode() {
	}

	/**
	 * The classes of which the code of a bean calls the constructor, {@code null} without
	 * such code.
	 * @param factoryBean creates the bean, {@code null} if a {@code @Bean} method does
	 */
	static @Nullable Set<Class<?>> createdBy(BeanDefinition definition, @Nullable Object factoryBean,
			@Nullable ClassLoader classLoader) {
		Method method = (factoryBean != null) ? productMethod(AopUtils.getTargetClass(factoryBean))
				: (definition instanceof RootBeanDefinition root) ? root.getResolvedFactoryMethod() : null;
		return (method == null) ? null
				: namesIn(method).stream()
					.filter((name) -> ClassUtils.isPresent(name, classLoader))
					.map((name) -> ClassUtils.resolveClassName(name, classLoader))
					.collect(Collectors.toSet());
	}

	private static @Nullable Method productMethod(Class<?> type) {
		Method method = ReflectionUtils.findMethod(type, "getObject");
		return (method != null) ? BridgeMethodResolver.getMostSpecificMethod(method, type) : null;
	}

	private static Set<String> namesIn(Method method) {
		Class<?> declaring = ClassUtils.getUserClass(method.getDeclaringClass());
		Set<String> names = new LinkedHashSet<>();
		MethodVisitor code = new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

			@Override
			public void visitTypeInsn(int opcode, String type) {
				if (opcode == Opcodes.NEW) {
					names.add(ClassUtils.convertResourcePathToClassName(type));
				}
			}

		};
		ClassVisitor visitor = new ClassVisitor(SpringAsmInfo.ASM_VERSION) {

			@Override
			public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor,
					@Nullable String signature, String @Nullable [] exceptions) {
				return (name.equals(method.getName()) && descriptor.equals(Type.getMethodDescriptor(method))) ? code
						: null;
			}

		};
		try (InputStream bytes = declaring.getResourceAsStream(ClassUtils.getClassFileName(declaring))) {
			if (bytes != null) {
				new ClassReader(bytes).accept(visitor, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | RuntimeException ex) {
			// Such a bean stays lazy.
		}
		return names;
	}

}
