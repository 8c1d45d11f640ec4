package io.timingwheel.spring.durable.payload;

import java.io.InputStream;
import java.sql.Timestamp;
import java.nio.file.Path;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Entity;
import jakarta.persistence.MappedSuperclass;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Checks that types that can never be stored are refused before the first call.
 */
class PayloadTypeTests {

	private static final String ENTITY = "is a JPA entity";

	private static final String ABSTRACT = "is abstract, and JSON does not say what to instantiate";

	private static final String BOUND = "belongs to this JVM";

	private static final String CODE = "is code";

	private static final String UNTYPED = "java.lang.Object does not say what is to be read";

	private static final String CLASS_NAME = "by which JSON decides what is instantiated";

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			entity             | ENTITY
			entitySubclass     | ENTITY
			embeddable         | ENTITY
			entities           | ENTITY
			entityInRecord     | ENTITY
			optionalEntity     | ENTITY
			entityArray        | ENTITY
			entityInMap        | ENTITY
			object             | UNTYPED
			untypedMap         | UNTYPED
			rawList            | UNTYPED
			unknownList        | UNTYPED
			objectInRecord     | UNTYPED
			variable           | UNTYPED
			stream             | BOUND
			inputStream        | BOUND
			thread             | BOUND
			type               | BOUND
			typeAsKey          | BOUND
			future             | BOUND
			runnable           | CODE
			supplier           | CODE
			request            | ABSTRACT
			shape              | ABSTRACT
			shapeInRecord      | ABSTRACT
			byClassName        | CLASS_NAME
			byMinimalClassName | CLASS_NAME
			byClassNameInList  | CLASS_NAME
			byClassNameInRecord| CLASS_NAME
			byClassNameOfProperty | CLASS_NAME
			subtypeOfByClassName | CLASS_NAME
			entityInRecursion  | ENTITY
			noConstructor      | NO_CONSTRUCTOR
			innerClass         | NO_CONSTRUCTOR
			calendar           | LOSSY
			timestamps         | LOSSY
			pattern            | LOSSY
			""")
	void unsupportedTypeIsRefused(String type, String problem) {
		String text = switch (problem) {
			case "ENTITY" -> ENTITY;
			case "UNTYPED" -> UNTYPED;
			case "BOUND" -> BOUND;
			case "CODE" -> CODE;
			case "ABSTRACT" -> ABSTRACT;
			case "CLASS_NAME" -> CLASS_NAME;
			case "LOSSY" -> "in JSON";
			default -> "has no constructor that JSON can be read into";
		};
		for (int repetition = 0; repetition < 2; repetition++) {
			assertThatExceptionOfType(UnsupportedArgumentException.class)
				.isThrownBy(() -> Payloads.of(Payloads.codec(), Types.class, type))
				.withMessageContaining("Argument 1 (value) cannot be stored: ")
				.satisfies((ex) -> {
					assertThat(ex.getProblem()).contains(text);
					assertThat(ex.getRemedy()).isNotEmpty();
				});
		}
	}

	/**
	 * The constructor of the last one throws.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "charSequence", "number", "path", "iterable", "sealed", "ignoredEntity", "recursive",
			"explosive" })
	void supportedTypeIsAccepted(String type) {
		Payloads.of(Payloads.codec(), Types.class, type);
	}

	@SuppressWarnings("rawtypes")
	record Types<T>(Customer entity, Customer$Proxy entitySubclass, Address embeddable, List<Customer> entities,
			Holder<Customer> entityInRecord, Optional<Customer> optionalEntity, Customer[] entityArray,
			Map<String, List<Customer>> entityInMap, Object object, Map<String, Object> untypedMap, List rawList,
			List<?> unknownList, Holder<Object> objectInRecord, T variable, Stream<String> stream,
			InputStream inputStream, Thread thread, Class<?> type, Map<Class<?>, String> typeAsKey,
			CompletableFuture<String> future, Runnable runnable, Supplier<String> supplier, HttpServletRequest request,
			Shape shape, Holder<Shape> shapeInRecord, ByClassName byClassName, ByMinimalClassName byMinimalClassName,
			List<ByClassName> byClassNameInList, Holder<ByClassName> byClassNameInRecord,
			ByClassNameOfProperty byClassNameOfProperty, SubtypeOfByClassName subtypeOfByClassName,
			Recursion entityInRecursion, NoConstructor noConstructor, PayloadTypeTests.Inner innerClass,
			GregorianCalendar calendar, List<Timestamp> timestamps, Holder<Pattern> pattern, CharSequence charSequence,
			Number number, Path path, Iterable<String> iterable, SealedParent sealed, WithIgnoredEntity ignoredEntity,
			Tree recursive, Explosive explosive) {
	}

	class Inner {

		public int value;

	}

	@Entity
	static class Customer extends BaseEntity {

		public String name;

	}

	/**
	 * Like a proxy of an entity that is not loaded yet.
	 */
	static class Customer$Proxy extends Customer {

	}

	@MappedSuperclass
	static class BaseEntity {

	}

	@Embeddable
	record Address(String street) {
	}

	record Holder<T>(T value) {
	}

	interface Shape {

		int corners();

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
	static class ByClassName {

	}

	static class SubtypeOfByClassName extends ByClassName {

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS)
	interface ByMinimalClassName {

	}

	static class ByClassNameOfProperty {

		@JsonTypeInfo(use = JsonTypeInfo.Id.CLASS)
		public Number value;

	}

	static class Recursion {

		public Recursion next;

		public Customer customer;

	}

	static class NoConstructor {

		private final int value;

		NoConstructor(int value, String unnamed) {
			this.value = value;
		}

		public int getValue() {
			return this.value;
		}

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	sealed interface SealedParent {

	}

	record SealedChild(int value) implements SealedParent {
	}

	static class WithIgnoredEntity {

		@com.fasterxml.jackson.annotation.JsonIgnore
		public Customer customer;

		public long customerId;

	}

	record Tree(List<Tree> children) {
	}

	static class Explosive {

		Explosive() {
			throw new IllegalStateException("instantiated");
		}

	}

}
