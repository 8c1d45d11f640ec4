package io.timingwheel.spring.aop;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.function.Consumer;

import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * The methods with an annotation, whether called through the class or an interface.
 */
public final class AnnotatedMethodPointcut extends StaticMethodMatcherPointcut {

	private final AnnotatedMethods<? extends Annotation> methods;

	/**
	 * Creates a pointcut that checks nothing.
	 * @param methods the annotated methods
	 */
	public AnnotatedMethodPointcut(AnnotatedMethods<? extends Annotation> methods) {
		this(methods, (type) -> {
		});
	}

	/**
	 * Creates a pointcut that checks each class before its proxy is made, as the scan of
	 * {@link BeanTypes} cannot see behind a bean method that declares an interface.
	 * @param methods the annotated methods
	 * @param check throws if a class has annotated methods that are invalid
	 */
	public AnnotatedMethodPointcut(AnnotatedMethods<? extends Annotation> methods, Consumer<? super Class<?>> check) {
		this.methods = methods;
		setClassFilter((type) -> {
			if (methods.of(type).isEmpty()) {
				return false;
			}
			if (!AotProcessing.isActive()) {
				check.accept(type);
			}
			return true;
		});
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.of(targetClass).containsKey(AnnotatedMethods.mostSpecific(method, targetClass));
	}

}
