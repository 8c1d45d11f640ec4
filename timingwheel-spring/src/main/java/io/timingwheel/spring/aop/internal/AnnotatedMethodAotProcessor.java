package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;

import io.timingwheel.spring.annotation.Delayed;
import io.timingwheel.spring.annotation.Timeout;
import io.timingwheel.spring.task.internal.SecurityContextExecutors;
import org.jspecify.annotations.Nullable;

import org.springframework.aot.hint.BindingReflectionHintsRegistrar;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.ReflectionHints;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.RegisteredBean;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.BeanReference;
import org.springframework.expression.spel.ast.TypeReference;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Registers the hints for a native image: annotated methods and their fallbacks, the
 * types in their expressions and in stored arguments, and optional libraries. Spring
 * registers the methods that declare the annotations, and the proxies.
 */
class AnnotatedMethodAotProcessor implements BeanRegistrationAotProcessor, RuntimeHintsRegistrar {

	private static final List<String> OPTIONAL_TYPES = List.of("reactor.core.publisher.Flux",
			"reactor.core.publisher.Mono", "kotlinx.coroutines.reactor.MonoKt",
			"org.springframework.transaction.support.TransactionSynchronizationManager",
			"org.springframework.transaction.reactive.TransactionSynchronizationManager");

	private static final List<String> EXPRESSIONS = List.of("key", "delayExpression", "timeoutExpression");

	private static final BindingReflectionHintsRegistrar BINDING = new BindingReflectionHintsRegistrar();

	private final AnnotatedMethods annotated = new AnnotatedMethods();

	@Override
	public void registerHints(RuntimeHints hints, @Nullable ClassLoader classLoader) {
		OPTIONAL_TYPES.forEach((type) -> hints.reflection().registerTypeIfPresent(classLoader, type));
		hints.reflection()
			.registerTypeIfPresent(classLoader, SecurityContextExecutors.BASE_TYPE,
					MemberCategory.INVOKE_DECLARED_METHODS, MemberCategory.ACCESS_DECLARED_FIELDS);
	}

	@Override
	public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
		Class<?> type = bean.getBeanClass();
		Map<Class<?>, Map<Method, Annotation>> annotated = this.annotated.of(type);
		return annotated.isEmpty() ? null : (context, code) -> {
			Hints hints = new Hints(context.getRuntimeHints().reflection(), type, bean.getBeanFactory());
			annotated.values().forEach((methods) -> methods.forEach(hints::register));
		};
	}

	private record Hints(ReflectionHints hints, Class<?> beanClass, ConfigurableListableBeanFactory beanFactory) {

		void register(Method method, Annotation annotation) {
			this.hints.registerMethod(method, ExecutableMode.INVOKE);
			if (annotation instanceof Timeout timeout) {
				// Which of the methods with this name is called depends on the
				// parameters.
				ReflectionUtils.doWithMethods(this.beanClass,
						(fallback) -> this.hints.registerMethod(fallback, ExecutableMode.INVOKE),
						(candidate) -> candidate.getName().equals(timeout.fallback()));
			}
			if (annotation instanceof Delayed delayed && delayed.durable()) {
				BINDING.registerReflectionHints(this.hints,
						AnnotatedMethods.argumentTypes(method, this.beanClass).toArray(Type[]::new));
			}
			for (String attribute : EXPRESSIONS) {
				if (AnnotationUtils.getValue(annotation, attribute) instanceof String text && !text.isBlank()) {
					registerExpression(new ArgumentExpression(attribute, text, method, this.beanFactory), method);
				}
			}
		}

		private void registerExpression(ArgumentExpression expression, Method method) {
			if (!expression.isArgument()) {
				List.of(method.getParameterTypes()).forEach(this::register);
				BINDING.registerReflectionHints(this.hints, method.getGenericParameterTypes());
				registerNames(expression.syntaxTree());
			}
		}

		private void registerNames(SpelNode node) {
			if (node instanceof BeanReference) {
				String name = node.toStringAST().substring(1).replace("'", "");
				register(this.beanFactory.containsBean(name) ? this.beanFactory.getType(name) : null);
			}
			else if (node instanceof TypeReference) {
				String name = node.getChild(0).toStringAST();
				ClassLoader classLoader = this.beanFactory.getBeanClassLoader();
				register(ClassUtils.isPresent(name, classLoader) ? ClassUtils.resolveClassName(name, classLoader)
						: null);
			}
			for (int i = 0; i < node.getChildCount(); i++) {
				registerNames(node.getChild(i));
			}
		}

		private void register(@Nullable Class<?> type) {
			if (type != null && !type.isPrimitive()) {
				this.hints.registerType(ClassUtils.getUserClass(type), MemberCategory.INVOKE_PUBLIC_METHODS,
						MemberCategory.ACCESS_PUBLIC_FIELDS);
			}
		}

	}

}
