package io.timingwheel.spring.aop.internal;

import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.reflect.Method;
import java.util.Map;

import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class AnnotatedMethodsTests {

	private final AnnotatedMethods<Timeout> methods = new AnnotatedMethods<>(Timeout.class);

	@Test
	void anAnnotatedClassGivesTheDefaultOfTheMethodsOfTheClassAndItsSubclasses() throws Exception {
		Method plain = OnClass.class.getMethod("plain");
		Method own = OnClass.class.getMethod("own");
		Map<Method, Timeout> found = this.methods.of(OnClass.class);
		Method packagePrivate = OnClass.class.getDeclaredMethod("packagePrivate");
		Method forSubclasses = OnClass.class.getDeclaredMethod("forSubclasses");
		assertThat(found).containsOnlyKeys(plain, own, packagePrivate, forSubclasses);
		assertThat(found.get(plain).timeout()).isEqualTo("1s");
		assertThat(found.get(own).timeout()).isEqualTo("2s");
		assertThat(this.methods.defaults(OnClass.class)).containsOnly(plain, packagePrivate, forSubclasses);
		Method added = OnSubclass.class.getMethod("added");
		Method overridden = OnSubclass.class.getMethod("plain");
		assertThat(this.methods.of(OnSubclass.class)).containsOnlyKeys(overridden, own, added, packagePrivate,
				forSubclasses);
		assertThat(this.methods.defaults(OnSubclass.class)).doesNotContain(own);
	}

	@Test
	void anAnnotatedInterfaceGivesTheDefaultOfItsOwnMethods() throws Exception {
		Method run = OfInterface.class.getMethod("run");
		assertThat(this.methods.of(OfInterface.class)).containsOnlyKeys(run);
		assertThat(this.methods.of(OfInterface.class).get(run).timeout()).isEqualTo("3s");
		assertThat(this.methods.of(OnInterface.class)).containsOnlyKeys(OnInterface.class.getMethod("run"));
	}

	@Test
	void theAnnotationOfTheClassPrecedesThatOfAnInterface() throws Exception {
		Method run = OfClassAndInterface.class.getMethod("run");
		assertThat(this.methods.of(OfClassAndInterface.class).get(run).timeout()).isEqualTo("4s");
	}

	@Test
	void aComposedAnnotationMayBeOnAClass() throws Exception {
		Method run = Composed.class.getMethod("run");
		assertThat(this.methods.of(Composed.class).get(run).timeout()).isEqualTo("5s");
	}

	@Test
	void theAnnotationOfAnInterfaceMethodPrecedesTheDefaultOfTheClass() throws Exception {
		Method run = DefaultBesideInterface.class.getMethod("run", String.class);
		assertThat(this.methods.of(DefaultBesideInterface.class).get(run).timeout()).isEqualTo("1s");
	}

	interface Runs {

		@Timeout("1s")
		void run(String text);

	}

	static class Ancestor {

		public void inherited() {
		}

	}

	@Timeout("1s")
	static class OnClass extends Ancestor {

		public static void ofClass() {
		}

		public void plain() {
		}

		@Timeout("2s")
		public void own() {
		}

		void packagePrivate() {
		}

		protected void forSubclasses() {
			ofThisObject();
		}

		private void ofThisObject() {
		}

		@Override
		public boolean equals(Object other) {
			return this == other;
		}

		@Override
		public int hashCode() {
			return 1;
		}

		@Override
		public String toString() {
			return "text";
		}

	}

	static class OnSubclass extends OnClass {

		@Override
		public void plain() {
		}

		public void added() {
		}

	}

	@Timeout("3s")
	interface OnInterface {

		void run();

	}

	static class OfInterface implements OnInterface {

		@Override
		public void run() {
		}

		public void other() {
		}

	}

	@Timeout("4s")
	static class OfClassAndInterface implements OnInterface {

		@Override
		public void run() {
		}

	}

	@Retention(RetentionPolicy.RUNTIME)
	@Timeout("5s")
	@interface FiveSeconds {

	}

	@FiveSeconds
	static class Composed {

		public void run() {
		}

	}

	@Timeout("9s")
	static class DefaultBesideInterface implements Runs {

		@Override
		public void run(String text) {
		}

	}

}
