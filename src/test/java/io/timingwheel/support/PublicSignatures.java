package io.timingwheel.support;

import java.io.File;
import java.io.IOException;
import java.lang.annotation.Annotation;
import java.lang.annotation.Retention;
import java.lang.annotation.Target;
import java.lang.reflect.AnnotatedArrayType;
import java.lang.reflect.AnnotatedParameterizedType;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.AnnotatedTypeVariable;
import java.lang.reflect.AnnotatedWildcardType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The public and protected API of packages as text: a line for each type and each member.
 * The types of the JDK have their simple names, all others their full names.
 */
final class PublicSignatures {

	private PublicSignatures() {
	}

	/**
	 * Reads the API of a package, without the packages below it, from a folder below that
	 * of all classes. The lines are sorted by type and member.
	 */
	static List<String> of(Path classes, Path folder) throws IOException {
		String packageName = classes.relativize(folder).toString().replace(File.separatorChar, '.');
		try (Stream<Path> files = Files.list(folder)) {
			return files.map((file) -> file.getFileName().toString())
				.filter((file) -> file.endsWith(".class") && !file.startsWith("package-info"))
				.map((file) -> packageName + "." + file.substring(0, file.length() - ".class".length()))
				.sorted()
				.map(PublicSignatures::load)
				.filter(PublicSignatures::isVisible)
				.flatMap(PublicSignatures::lines)
				.toList();
		}
	}

	private static Class<?> load(String name) {
		try {
			return Class.forName(name, false, PublicSignatures.class.getClassLoader());
		}
		catch (ClassNotFoundException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Whether code outside of the package can name a type. */
	private static boolean isVisible(Class<?> type) {
		Class<?> enclosing = type.getEnclosingClass();
		return isVisible(type.getModifiers()) && !type.isAnonymousClass() && !type.isLocalClass()
				&& (enclosing == null || isVisible(enclosing));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static Stream<String> lines(Class<?> type) {
		List<String> members = new ArrayList<>();
		for (Constructor<?> constructor : type.getDeclaredConstructors()) {
			if (isVisible(constructor.getModifiers()) && !constructor.isSynthetic()
					&& !isCanonical(type, constructor)) {
				members.add(signature(constructor, "new"));
			}
		}
		// What a type inherits from a type that is not visible is its own API.
		for (Class<?> owner = type; owner != null
				&& (owner == type || !isVisible(owner)); owner = owner.getSuperclass()) {
			for (Field field : owner.getDeclaredFields()) {
				if (isVisible(field.getModifiers()) && !field.isSynthetic()) {
					members.add(signature(field));
				}
			}
			for (Method method : owner.getDeclaredMethods()) {
				if (isVisible(method.getModifiers()) && !method.isSynthetic() && !isGenerated(type, method)) {
					members.add(signature(method, render(method.getAnnotatedReturnType()) + " " + method.getName())
							+ defaultValue(method));
				}
			}
		}
		return Stream.concat(Stream.of(declaration(type)),
				members.stream().distinct().sorted().map((member) -> "\t" + member));
	}

	/** Whether a method comes with each enum or record. */
	private static boolean isGenerated(Class<?> type, Method method) {
		return switch (method.getName()) {
			case "values", "valueOf" -> type.isEnum();
			case "equals", "hashCode", "toString" -> type.isRecord();
			default -> type.isRecord() && method.getParameterCount() == 0 && Arrays.stream(type.getRecordComponents())
				.anyMatch((component) -> component.getName().equals(method.getName()));
		};
	}

	/**
	 * Whether a constructor is that of the components of a record. The declaration of the
	 * record shows them: the generic types of the constructor differ between compilers.
	 */
	private static boolean isCanonical(Class<?> type, Constructor<?> constructor) {
		return type.isRecord() && Arrays.equals(constructor.getParameterTypes(),
				Arrays.stream(type.getRecordComponents()).map(RecordComponent::getType).toArray());
	}

	private static String components(Class<?> type) {
		return type.isRecord() ? Arrays.stream(type.getRecordComponents())
			.map((component) -> render(component.getAnnotatedType()) + " " + component.getName())
			.collect(Collectors.joining(", ", "(", ")")) : "";
	}

	private static String declaration(Class<?> type) {
		String kind = type.isAnnotation() ? "@interface"
				: type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
		int implied = (type.isInterface() ? Modifier.ABSTRACT | Modifier.STATIC : 0)
				| ((type.isEnum() || type.isRecord()) ? Modifier.FINAL | Modifier.STATIC : 0);
		List<String> supertypes = new ArrayList<>();
		Class<?> superclass = type.getSuperclass();
		if (superclass != null && superclass != Object.class && superclass != Record.class && !type.isEnum()) {
			supertypes.add(render(type.getAnnotatedSuperclass()));
		}
		if (!type.isAnnotation()) {
			Arrays.stream(type.getAnnotatedInterfaces())
				.map(PublicSignatures::render)
				.sorted()
				.forEach(supertypes::add);
		}
		return annotations(type.getDeclaredAnnotations()) + modifiers(type.getModifiers() & ~implied) + kind + " "
				+ name(type) + variables(type.getTypeParameters()) + components(type)
				+ (supertypes.isEmpty() ? "" : " : " + String.join(", ", supertypes));
	}

	private static String signature(Field field) {
		return annotations(field.getDeclaredAnnotations()) + modifiers(field) + render(field.getAnnotatedType()) + " "
				+ field.getName() + constant(field);
	}

	/** The value of a constant, which the compiler copies into the code of users. */
	private static String constant(Field field) {
		boolean constant = Modifier.isStatic(field.getModifiers()) && Modifier.isFinal(field.getModifiers())
				&& (field.getType().isPrimitive() || field.getType() == String.class);
		try {
			return (constant && field.trySetAccessible()) ? " = " + field.get(null) : "";
		}
		catch (IllegalAccessException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String signature(Executable executable, String resultAndName) {
		List<String> parameters = new ArrayList<>();
		for (AnnotatedType parameter : executable.getAnnotatedParameterTypes()) {
			parameters.add(render(parameter));
		}
		String exceptions = Arrays.stream(executable.getGenericExceptionTypes())
			.map(PublicSignatures::name)
			.sorted()
			.collect(Collectors.joining(", "));
		return annotations(executable.getDeclaredAnnotations()) + modifiers(executable)
				+ ((executable instanceof Method method && method.isDefault()) ? "default " : "")
				+ variables(executable.getTypeParameters()) + (executable.getTypeParameters().length > 0 ? " " : "")
				+ resultAndName + "(" + String.join(", ", parameters) + ")"
				+ (exceptions.isEmpty() ? "" : " throws " + exceptions);
	}

	private static String defaultValue(Method method) {
		Object value = method.getDefaultValue();
		// The text of an annotation differs between JDKs.
		return (value == null) ? ""
				: " default " + ((value instanceof Annotation annotation) ? "@" + name(annotation.annotationType())
						: (value instanceof Object[] array) ? Arrays.toString(array)
								: (value instanceof String text) ? '"' + text + '"' : value.toString());
	}

	private static String modifiers(Member member) {
		int relevant = Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.ABSTRACT | Modifier.FINAL;
		int implied = member.getDeclaringClass().isInterface() ? Modifier.PUBLIC | Modifier.ABSTRACT : 0;
		return modifiers(member.getModifiers() & relevant & ~implied);
	}

	private static String modifiers(int modifiers) {
		String text = Modifier.toString(modifiers & ~Modifier.INTERFACE);
		return text.isEmpty() ? "" : text + " ";
	}

	private static String annotations(Annotation[] annotations) {
		return Arrays.stream(annotations)
			.filter((annotation) -> !annotation.annotationType().getName().startsWith("kotlin."))
			.map(PublicSignatures::annotation)
			.filter((text) -> !text.endsWith(".Nullable"))
			.sorted()
			.map((text) -> text + " ")
			.collect(Collectors.joining());
	}

	private static String annotation(Annotation annotation) {
		if (annotation instanceof Target target) {
			return Arrays.stream(target.value())
				.map(Object::toString)
				.sorted()
				.collect(Collectors.joining(", ", "@Target(", ")"));
		}
		if (annotation instanceof Retention retention) {
			return "@Retention(" + retention.value() + ")";
		}
		return "@" + name(annotation.annotationType());
	}

	private static String variables(TypeVariable<?>[] variables) {
		return (variables.length == 0) ? ""
				: Arrays.stream(variables).map(PublicSignatures::variable).collect(Collectors.joining(", ", "<", ">"));
	}

	private static String variable(TypeVariable<?> variable) {
		return variable.getName() + bounds(" extends ", variable.getAnnotatedBounds());
	}

	/**
	 * A type with its nullness. The text of {@link AnnotatedType} differs between JDKs.
	 */
	private static String render(AnnotatedType type) {
		String nullable = type.isAnnotationPresent(Nullable.class) ? "@Nullable " : "";
		if (type instanceof AnnotatedArrayType array) {
			return render(array.getAnnotatedGenericComponentType())
					+ (nullable.isEmpty() ? "[]" : " " + nullable + "[]");
		}
		if (type instanceof AnnotatedParameterizedType parameterized) {
			return nullable + name(((ParameterizedType) type.getType()).getRawType())
					+ Arrays.stream(parameterized.getAnnotatedActualTypeArguments())
						.map(PublicSignatures::render)
						.collect(Collectors.joining(", ", "<", ">"));
		}
		if (type instanceof AnnotatedWildcardType wildcard) {
			return nullable + "?" + bounds(" super ", wildcard.getAnnotatedLowerBounds())
					+ bounds(" extends ", wildcard.getAnnotatedUpperBounds());
		}
		if (type instanceof AnnotatedTypeVariable) {
			return nullable + type.getType().getTypeName();
		}
		return nullable + name(type.getType());
	}

	private static String bounds(String keyword, AnnotatedType[] bounds) {
		String text = Arrays.stream(bounds).map(PublicSignatures::render).collect(Collectors.joining(" & "));
		return (text.isEmpty() || text.equals("Object")) ? "" : keyword + text;
	}

	private static String name(Type type) {
		if (!(type instanceof Class<?> raw)) {
			return type.getTypeName();
		}
		String name = raw.getCanonicalName();
		return name.startsWith("java.") ? name.substring(raw.getPackageName().length() + 1) : name;
	}

}
