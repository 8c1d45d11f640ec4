package io.timingwheel.spring.durable.payload;

import java.io.InputStream;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.util.GregorianCalendar;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.timingwheel.spring.aop.InvalidAnnotatedMethodException;
import jakarta.persistence.Embeddable;
import jakarta.persistence.Entity;
import jakarta.persistence.MappedSuperclass;
import jakarta.servlet.http.HttpServletRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** Checks that types that can never be stored are refused before the first call. */
class PayloadTypeTests {

	static Stream<Arguments> refused() {
		Map<Class<?>, String> problems = Map.of(Entities.class, "is a JPA entity", Untyped.class,
				"java.lang.Object does not say what is to be read", Bound.class, "belongs to this JVM", Code.class,
				"is code", Abstract.class, "is abstract, and JSON does not say what to instantiate", ByClassName.class,
				"by which JSON decides what is instantiated", Unreadable.class,
				"has no constructor that JSON can be read into", Lossy.class, "in JSON", ObjectAsKey.class,
				"Key deserializer");
		return problems.entrySet()
			.stream()
			.flatMap((types) -> Stream.of(types.getKey().getRecordComponents())
				.map((type) -> arguments(types.getKey(), type.getName(), types.getValue())));
	}

	@ParameterizedTest(name = "{0} {1}")
	@MethodSource
	void refused(Class<?> types, String type, String problem) {
		for (int repetition = 0; repetition < 2; repetition++) {
			assertThatExceptionOfType(InvalidAnnotatedMethodException.class)
				.isThrownBy(() -> Payloads.of(Payloads.codec(), types, type))
				.withMessageContaining("Argument 1 (value) cannot be stored: ")
				.satisfies((ex) -> {
					assertThat(ex.getProblem()).contains(problem);
					assertThat(ex.getRemedy()).isNotEmpty();
				});
		}
	}

	@Test
	void accepted() {
		for (RecordComponent type : Accepted.class.getRecordComponents()) {
			Payloads.of(Payloads.codec(), Accepted.class, type.getName());
		}
	}

	record Entities(Customer entity, Customer$Proxy subclass, Address embeddable, List<Customer> list,
			Holder<Customer> inRecord, Optional<Customer> optional, Customer[] array, Map<String, List<Customer>> inMap,
			Recursion inRecursion) {
	}

	@SuppressWarnings("rawtypes")
	record Untyped<T>(Object object, Map<String, Object> map, List raw, List<?> unknown, Holder<Object> inRecord,
			T variable) {
	}

	record Bound(Stream<String> stream, InputStream inputStream, Thread thread, Class<?> type,
			Map<Class<?>, String> asKey, CompletableFuture<String> future) {
	}

	record Code(Runnable runnable, Supplier<String> supplier) {
	}

	record Abstract(HttpServletRequest request, Shape shape, Holder<Shape> inRecord) {
	}

	record ByClassName(Named named, MinimallyNamed minimallyNamed, List<Named> list, Holder<Named> inRecord,
			NamedProperty property, SubtypeOfNamed subtype) {
	}

	record Unreadable(NoConstructor noConstructor, PayloadTypeTests.Inner inner) {
	}

	record ObjectAsKey(Map<Tree, String> map) {
	}

	record Lossy(GregorianCalendar calendar, List<Timestamp> timestamps, Holder<Pattern> pattern) {
	}

	/** The constructor of the last one throws. */
	record Accepted(CharSequence charSequence, Number number, Path path, Iterable<String> iterable, SealedParent sealed,
			WithIgnoredEntity ignoredEntity, Tree recursive, Explosive explosive) {
	}

	class Inner {

		public int value;

	}

	@Entity
	static class Customer extends BaseEntity {

		public String name;

	}

	/** Like a proxy of an entity that is not loaded yet. */
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
	static class Named {

	}

	static class SubtypeOfNamed extends Named {

	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.MINIMAL_CLASS)
	interface MinimallyNamed {

	}

	static class NamedProperty {

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
