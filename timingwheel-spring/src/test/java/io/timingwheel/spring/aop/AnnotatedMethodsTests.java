package io.timingwheel.spring.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;

import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;

import org.springframework.aop.framework.ProxyFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AnnotatedMethodsTests {

	private final AnnotatedMethods<Timeout> methods = new AnnotatedMethods<>(Timeout.class);

	@Test
	void findsTheAnnotationOfAnInterfaceMethod() throws Exception {
		assertFinds(Implementation.class, Implementation.class.getMethod("run", String.class), "1s");
	}

	@Test
	void theAnnotationInTheClassPrecedesThatInTheInterface() throws Exception {
		assertFinds(Patient.class, Patient.class.getMethod("run", String.class), "5s");
	}

	@Test
	void findsTheAnnotationOfAnInterfaceMethodWhoseImplementationIsInherited() throws Exception {
		assertFinds(Inherited.class, Unrelated.class.getMethod("run", String.class), "1s");
	}

	@Test
	void findsTheMethodOfAGenericInterfaceButNotItsBridge() throws Exception {
		assertFinds(OfString.class, OfString.class.getMethod("run", String.class), "2s");
	}

	@Test
	void readsInterfacesAndInterfaceBasedProxies() throws Exception {
		Method method = Runs.class.getMethod("run", String.class);
		assertFinds(Runs.class, method, "1s");
		Object proxy = Proxy.newProxyInstance(getClass().getClassLoader(), new Class<?>[] { Runs.class },
				(target, called, arguments) -> null);
		assertFinds(proxy.getClass(), method, "1s");
	}

	@Test
	void readsTheClassBehindAClassBasedProxy() throws Exception {
		ProxyFactory factory = new ProxyFactory(new Implementation());
		factory.setProxyTargetClass(true);
		assertFinds(factory.getProxy().getClass(), Implementation.class.getMethod("run", String.class), "1s");
	}

	@Test
	void findsNothingInClassesWithoutTheAnnotation() {
		assertThat(this.methods.of(Unrelated.class)).isEmpty();
		assertThat(this.methods.of(String.class)).isEmpty();
	}

	@Test
	void contradictingAliasesFailAndNameTheMethod() {
		assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
			.isThrownBy(() -> this.methods.of(Contradicting.class))
			.withMessageContaining("Contradicting#run()")
			.withMessageContaining("set only one of the attributes");
	}

	private void assertFinds(Class<?> type, Method method, String timeout) {
		Map<Method, Timeout> found = this.methods.of(type);
		assertThat(found).containsOnlyKeys(method);
		assertThat(found.get(method).timeout()).isEqualTo(timeout);
	}

	interface Runs {

		@Timeout("1s")
		void run(String text);

	}

	static class Implementation implements Runs {

		@Override
		public void run(String text) {
		}

	}

	static class Patient implements Runs {

		@Override
		@Timeout("5s")
		public void run(String text) {
		}

	}

	static class Unrelated {

		public void run(String text) {
		}

	}

	static class Inherited extends Unrelated implements Runs {

	}

	interface Generic<T> {

		@Timeout("2s")
		void run(T value);

	}

	static class OfString implements Generic<String> {

		@Override
		public void run(String value) {
		}

	}

	static class Contradicting {

		@Timeout(value = "1s", timeout = "2s")
		void run() {
		}

	}

}
