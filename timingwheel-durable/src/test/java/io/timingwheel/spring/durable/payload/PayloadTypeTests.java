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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

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

	private final HandlerCodec codec = new HandlerCodec(JsonMapper.builder().build(), 1024, List::of);

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
	void unsupportedTypeIsRefused(String method, String problem) {
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
		Handler handler = Handler.of(Signatures.class, method);
		for (int repetition = 0; repetition < 2; repetition++) {
			assertThatExceptionOfType(UnsupportedArgumentException.class).isThrownBy(() -> this.codec.payloads(handler))
				.withMessageContaining("Argument 2 (value) cannot be stored: ")
				.satisfies((ex) -> {
					assertThat(ex.getProblem()).contains(text);
					assertThat(ex.getRemedy()).isNotEmpty();
				});
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "charSequence", "number", "path", "iterable", "sealed", "ignoredEntity", "recursive" })
	void supportedTypeIsAccepted(String method) {
		this.codec.payloads(Handler.of(Signatures.class, method));
	}

	@Test
	void nothingIsInstantiated() {
		this.codec.payloads(Handler.of(Signatures.class, "explosive"));
	}

	@SuppressWarnings({ "unused", "rawtypes" })
	static class Signatures {

		void entity(int first, Customer value) {
		}

		void entitySubclass(int first, Customer$Proxy value) {
		}

		void embeddable(int first, Address value) {
		}

		void entities(int first, List<Customer> value) {
		}

		void entityInRecord(int first, Holder<Customer> value) {
		}

		void optionalEntity(int first, Optional<Customer> value) {
		}

		void entityArray(int first, Customer[] value) {
		}

		void entityInMap(int first, Map<String, List<Customer>> value) {
		}

		void object(int first, Object value) {
		}

		void untypedMap(int first, Map<String, Object> value) {
		}

		void rawList(int first, List value) {
		}

		void unknownList(int first, List<?> value) {
		}

		void objectInRecord(int first, Holder<Object> value) {
		}

		<T> void variable(int first, T value) {
		}

		void stream(int first, Stream<String> value) {
		}

		void inputStream(int first, InputStream value) {
		}

		void thread(int first, Thread value) {
		}

		void type(int first, Class<?> value) {
		}

		void typeAsKey(int first, Map<Class<?>, String> value) {
		}

		void future(int first, CompletableFuture<String> value) {
		}

		void runnable(int first, Runnable value) {
		}

		void supplier(int first, Supplier<String> value) {
		}

		void request(int first, HttpServletRequest value) {
		}

		void shape(int first, Shape value) {
		}

		void shapeInRecord(int first, Holder<Shape> value) {
		}

		void byClassName(int first, ByClassName value) {
		}

		void byMinimalClassName(int first, ByMinimalClassName value) {
		}

		void byClassNameInList(int first, List<ByClassName> value) {
		}

		void byClassNameInRecord(int first, Holder<ByClassName> value) {
		}

		void byClassNameOfProperty(int first, ByClassNameOfProperty value) {
		}

		void subtypeOfByClassName(int first, SubtypeOfByClassName value) {
		}

		void entityInRecursion(int first, Recursion value) {
		}

		void noConstructor(int first, NoConstructor value) {
		}

		void innerClass(int first, Inner value) {
		}

		void calendar(int first, GregorianCalendar value) {
		}

		void timestamps(int first, List<Timestamp> value) {
		}

		void pattern(int first, Holder<Pattern> value) {
		}

		void charSequence(CharSequence value) {
		}

		void number(Number value) {
		}

		void path(Path value) {
		}

		void iterable(Iterable<String> value) {
		}

		void sealed(SealedParent value) {
		}

		void ignoredEntity(WithIgnoredEntity value) {
		}

		void recursive(Tree value) {
		}

		void explosive(Explosive value) {
		}

		class Inner {

			public int value;

		}

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
