package io.timingwheel.spring.aop.internal;

import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.util.Map;
import java.util.TreeMap;

import io.timingwheel.spring.annotation.Timeout;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** The annotation of a type is the default of the methods that the type declares. */
class AnnotatedMethodsTests {

	@Test
	void anAnnotatedClassGivesTheDefaultOfItsMethodsAndTheNearestAnnotationPrecedes() {
		assertThat(limits(OnClass.class)).isEqualTo(Map.of("plain", "1s", "own", "2s", "packagePrivate", "1s"));
		assertThat(limits(OnSubclass.class))
			.isEqualTo(Map.of("plain", "1s", "own", "2s", "packagePrivate", "1s", "added", "1s"));
		assertThat(limits(OfInterface.class)).isEqualTo(Map.of("run", "3s"));
		assertThat(limits(OnInterface.class)).isEqualTo(Map.of("run", "3s"));
		assertThat(limits(OfClassAndInterface.class)).isEqualTo(Map.of("run", "5s"));
		assertThat(limits(DefaultBesideMethod.class)).isEqualTo(Map.of("run", "1s"));
	}

	private static Map<String, String> limits(Class<?> type) {
		Map<String, String> limits = new TreeMap<>();
		new AnnotatedMethods().of(type, Timeout.class)
			.forEach((method, timeout) -> limits.put(method.getName(), timeout.timeout()));
		return limits;
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
			ofThisObject();
		}

		@Timeout("2s")
		public void own() {
		}

		void packagePrivate() {
		}

		private void ofThisObject() {
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

	@Retention(RetentionPolicy.RUNTIME)
	@Timeout("5s")
	@interface FiveSeconds {

	}

	@FiveSeconds
	static class OfClassAndInterface extends OfInterface {

		@Override
		public void run() {
		}

	}

	interface Runs {

		@Timeout("1s")
		void run();

	}

	@Timeout("9s")
	static class DefaultBesideMethod implements Runs {

		@Override
		public void run() {
		}

	}

}
