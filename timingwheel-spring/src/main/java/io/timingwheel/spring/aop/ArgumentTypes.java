package io.timingwheel.spring.aop;

import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.Arrays;
import java.util.List;

import org.springframework.core.GenericTypeResolver;

/**
 * The types of a method's parameters.
 */
public final class ArgumentTypes {

	private ArgumentTypes() {
	}

	/**
	 * The types by position, with the type variables that the bean's class settles.
	 * @param method the method
	 * @param beanClass the class of the bean
	 * @return the types
	 */
	public static List<Type> of(Method method, Class<?> beanClass) {
		return Arrays.stream(method.getGenericParameterTypes()).map((type) -> resolve(type, beanClass)).toList();
	}

	private static Type resolve(Type type, Class<?> beanClass) {
		if (type instanceof GenericArrayType array) {
			Type component = resolve(array.getGenericComponentType(), beanClass);
			return (component instanceof Class<?> resolved) ? resolved.arrayType() : type;
		}
		return GenericTypeResolver.resolveType(type, beanClass);
	}

}
