package io.timingwheel.spring.durable.payload;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.net.URI;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Currency;
import java.util.Date;
import java.util.EnumMap;
import java.util.GregorianCalendar;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import com.fasterxml.jackson.annotation.JsonTypeName;
import io.timingwheel.spring.durable.payload.MethodPayloads.UndecodablePayloadException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.core.JsonParser;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.databind.DeserializationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.deser.jdk.StringDeserializer;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.module.SimpleModule;
import tools.jackson.databind.node.JsonNodeFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * Checks that arguments come back unchanged, or are refused before anything is stored.
 */
class PayloadCodecTests {

	private final PayloadCodec codec = Payloads.codec();

	@Test
	void theFormatIsStable() throws Exception {
		Bean bean = bean("b", new Order(7, List.of("a", "b"), Unit.PIECE));
		String payload = "[{\"name\":\"b\",\"order\":{\"id\":7,\"lines\":[\"a\",\"b\"],\"unit\":\"PIECE\"}}]";
		assertThat(encode("bean", bean)).isEqualTo(payload);
		assertThat(decode("bean", payload)).usingRecursiveComparison().isEqualTo(bean);
	}

	static List<Arguments> values() {
		Order order = new Order(1, List.of(), Unit.BOX);
		return List.of(row("integer", 1, Integer.MIN_VALUE), row("flag", true, false), row("character", 'c', '"'),
				row("real", 1.5d, Double.NaN, -0.0, Double.MIN_VALUE), row("single", 2.5f, Float.NEGATIVE_INFINITY),
				row("small", (short) 3, Short.MAX_VALUE), row("tiny", (byte) 4, Byte.MIN_VALUE),
				row("boxed", 2L, Long.MAX_VALUE, null),
				row("text", "quote \" newline \n nul \0 \uD83D\uDE00", "half a character: \uD83D", "", null),
				row("decimal", new BigDecimal("1.00"), new BigDecimal("1E+30")),
				row("big", new BigInteger("123456789012345678901234567890"), BigInteger.ZERO),
				row("number", new BigDecimal("1.50"), 7), row("bytes", new byte[] { 0, -1, 127 }, new byte[0]),
				row("characters", new char[] { 'a', 'b' }, new char[0]),
				row("reals", new double[] { Double.NaN, -0.0 }), row("matrix", (Object) new int[][] { { 1 }, {} }),
				row("uuid", new UUID(1, 2)), row("locale", Locale.CANADA_FRENCH, Locale.ROOT),
				row("uri", URI.create("")), row("currency", Currency.getInstance("EUR")), row("unit", TimeUnit.DAYS),
				row("instant", Instant.parse("2026-01-01T00:00:00.123456789Z")),
				row("localDate", LocalDate.of(2026, 2, 28)), row("duration", Duration.ofNanos(1)),
				row("zoned", ZonedDateTime.parse("2026-03-29T01:30:00.123456789+01:00[Europe/Paris]")),
				row("offset", OffsetDateTime.of(2026, 1, 1, 0, 0, 0, 1, ZoneOffset.ofHours(2))),
				row("date", new Date(5)), row("sqlDate", new java.sql.Date(6)),
				row("order", order, new Order(1, null, null)), row("orders", List.of(order)),
				row("orderArray", (Object) new Order[] { order }),
				row("optional", Optional.of(order), Optional.empty()),
				row("optionalInt", OptionalInt.of(3), OptionalInt.empty()),
				row("set", Set.of("a", "b", "c", "d", "e"), new LinkedHashSet<>(List.of("z", "a", "q"))),
				row("lists", Map.of("a", List.of(1), "b", List.of(), "c", List.of(2, 3)),
						new TreeMap<>(Map.of("z", List.of(1), "a", List.of()))),
				row("enumMap", new EnumMap<>(Map.of(Unit.BOX, Instant.EPOCH))),
				row("animals", List.of(new Dog("rex"), new Cat(9))), row("animal", new Cat(3)),
				row("byName", Map.of("a", new Dog("b"))), row("page", new Page<>(List.of(order), 1)),
				// Their order changes with their capacity.
				row("hashSet", new HashSet<>(List.of("z", "a", "q")), wide(new HashSet<>(1024))),
				row("hashMap", new HashMap<>(Map.of(1, 2)), wide(new HashMap<>(1024))),
				row("tree", JsonNodeFactory.instance.objectNode().put("a", 1).put("@class", "java.lang.X")));
	}

	private static Arguments row(String type, @Nullable Object... values) {
		return arguments(type, values);
	}

	private static Set<String> wide(Set<String> set) {
		set.addAll(List.of("a", "q", "P"));
		return set;
	}

	private static Map<Integer, Integer> wide(Map<Integer, Integer> map) {
		map.putAll(Map.of(1, 2, 16, 17));
		return map;
	}

	@ParameterizedTest(name = "{index} {0}")
	@MethodSource("values")
	void argumentsComeBackUnchanged(String type, @Nullable Object[] values) throws Exception {
		for (Object value : values) {
			Object read = decode(type, encode(type, value));
			assertThat(read).isEqualTo(value);
			if (value != null && !(value instanceof Iterable) && !(value instanceof Map)) {
				assertThat(read).hasSameClassAs(value);
			}
		}
	}

	@Test
	void aValueOfAnotherTypeIsStoredIfItCanBeReadAsTheDeclaredType() throws Exception {
		assertThat(decode("integer", encode("integer", (short) 1))).isEqualTo(1);
		assertThat(decode("boxed", encode("boxed", 2))).isEqualTo(2L);
		assertRefused("integer", "1", "Argument 1 (value) of the durable task \"task\" changes");
		assertRefused("boxed", List.of(),
				"cannot be read back: Argument 1 (value) cannot be read: the JSON is no java.");
		assertRefused("integer", null, "Argument 1 (value) cannot be read: the JSON is no int");
	}

	static List<Arguments> valuesThatJsonLoses() {
		Unstored unstored = new Unstored();
		unstored.hidden = 5;
		Unstored writeOnly = new Unstored();
		writeOnly.password = "p";
		Unstored circle = new Unstored();
		circle.self = circle;
		Unstored bound = new Unstored();
		bound.self = new ReentrantLock();
		return List.of(arguments("unstored", unstored), arguments("unstored", writeOnly), arguments("unstored", circle),
				arguments("unstored", bound), arguments("unstoredFinal", new UnstoredFinal("n", 5)),
				arguments("minutes", new Minutes(LocalDateTime.of(2026, 1, 1, 0, 0, 1))));
	}

	@ParameterizedTest
	@MethodSource
	void valuesThatJsonLoses(String type, Object value) {
		assertRefused(type, value,
				"Argument 1 (value) of the durable task \"task\" changes when it is written to JSON and read back as a "
						+ value.getClass().getName() + "; give each of its properties a getter");
	}

	@Test
	void whatAClassDoesNotStoreMayDiffer() throws Exception {
		Cached cached = new Cached();
		cached.name = "n";
		cached.cache = 1;
		cached.ignored = "i";
		cached.hash = 2;
		assertThat(decode("cached", encode("cached", cached))).isEqualTo(cached);
		Basket basket = new Basket();
		basket.prices = new HashSet<>(List.of(1.5, -0.0, Double.NaN, 0.1f + 0.2));
		assertThat(decode("basket", encode("basket", basket))).extracting("prices").isEqualTo(basket.prices);
		Ignoring ignoring = new Ignoring();
		ignoring.name = "n";
		ignoring.field = ignoring;
		ignoring.getter = "g";
		assertThat(decode("ignoring", encode("ignoring", ignoring))).usingRecursiveComparison()
			.ignoringFields("field", "getter")
			.isEqualTo(ignoring);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			integer | 1.9
			uuid    | ""
			unit    | 1
			""")
	void anArgumentThatIsReadAsAnotherTypeKeepsItsValueOrFails(String type, String json) {
		assertThatExceptionOfType(UndecodablePayloadException.class)
			.isThrownBy(() -> decode(type, Payloads.payload(json)));
	}

	@Test
	void whatOnlyTheCallShowsAsUnsupportedIsRefused() {
		assertRefused("readOnly", new ReadOnly(), "cannot be stored");
		assertRefused("date", new Timestamp(1),
				"java.sql.Timestamp loses a part of its value in JSON; declare a type of java.time");
		BeanWithCustomer bean = new BeanWithCustomer();
		bean.customer = new PayloadTypeTests.Customer$Proxy();
		assertRefused("bean", bean, "Argument 1 (value) of the durable task \"task\" cannot be stored: "
				+ PayloadTypeTests.Customer$Proxy.class.getTypeName() + " is a JPA entity; pass its id");
		Node node = new Node();
		node.next = node;
		assertRefused("node", node, "self-reference");
		Node other = new Node();
		other.next = node;
		node.next = other;
		assertRefused("node", node, "nesting depth");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> Payloads.of(this.codec, Types.class, "text").encode(new Object[0]))
			.withMessage("The durable task \"task\" takes 1 arguments, not 0");
	}

	@Test
	void theLimitIsInBytes() throws Exception {
		int free = Payloads.MAX_BYTES - encode("text", "").length();
		String fits = "€".repeat(free / 3) + "x".repeat(free % 3);
		assertThat(decode("text", encode("text", fits))).isEqualTo(fits);
		assertRefused("text", fits + "x", "The arguments of the durable task \"task\" take 1025 bytes, and"
				+ " timingwheel.store.max-payload-size is 1024 bytes; pass less, such as an id, or raise the limit");
	}

	@Test
	void aTextThatAModuleOfTheApplicationChangesIsRefused() {
		SimpleModule trimming = new SimpleModule().addDeserializer(String.class, new StringDeserializer() {
			@Override
			public String deserialize(JsonParser parser, DeserializationContext context) {
				return super.deserialize(parser, context).trim();
			}
		});
		MethodPayloads payloads = Payloads.of(
				new PayloadCodec(JsonMapper.builder().addModule(trimming).build(), Payloads.MAX_BYTES, List::of),
				Types.class, "text");
		assertThat(payloads.encode(new Object[] { "a" })).isEqualTo("[\"a\"]");
		assertThatIllegalArgumentException().isThrownBy(() -> payloads.encode(new Object[] { " a" }))
			.withMessageContaining("changes when it is written to JSON and read back");
		assertRefused("text", 42, "changes when it is written to JSON and read back as a java.lang.String");
	}

	@Test
	void aTextThatIsTooLongToBeReadBackIsRefused() {
		StreamReadConstraints before = StreamReadConstraints.defaults();
		StreamReadConstraints.overrideDefaultStreamReadConstraints(before.rebuild().maxStringLength(100).build());
		try {
			MethodPayloads payloads = Payloads.of(Payloads.codec(), Types.class, "text");
			assertThat(payloads.encode(new Object[] { "x".repeat(100) })).hasSize(104);
			assertThatIllegalArgumentException().isThrownBy(() -> payloads.encode(new Object[] { "x".repeat(101) }))
				.withMessageContaining("cannot be read back: Argument 1 (value) cannot be read");
		}
		finally {
			StreamReadConstraints.overrideDefaultStreamReadConstraints(before);
		}
	}

	@Test
	void argumentsAreEncodedByTheirOwnTypesWithoutTheHandler() throws Exception {
		List<Order> orders = List.of(new Order(1, List.of("a"), Unit.BOX));
		String payload = this.codec.encode("task", new Object[] { orders });
		assertThat(payload).isEqualTo(encode("orders", orders));
		assertThat(decode("orders", this.codec.encode("earlier", new Object[] { orders }))).isEqualTo(orders);
		Runnable code = () -> {
		};
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode("far", new Object[] { 1, List.of(code) }))
			.withMessageContaining("Argument 2 of the durable task \"far\" cannot be stored")
			.withMessageContaining("is code; pass the data");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode("far", new Object[] { new GregorianCalendar() }))
			.withMessageContaining("loses a part of its value in JSON; declare a type");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> this.codec.encode("far", new Object[] { "x".repeat(Payloads.MAX_BYTES) }))
			.withMessageContaining("timingwheel.store.max-payload-size");
	}

	private String encode(String type, @Nullable Object value) {
		return Payloads.of(this.codec, Types.class, type).encode(new Object[] { value });
	}

	private @Nullable Object decode(String type, String payload) throws UndecodablePayloadException {
		return Payloads.of(this.codec, Types.class, type).decode(payload)[0];
	}

	private void assertRefused(String type, @Nullable Object value, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> encode(type, value)).withMessageContaining(message);
	}

	private static Bean bean(String name, Order order) {
		Bean bean = new Bean();
		bean.name = name;
		bean.order = order;
		return bean;
	}

	record Types(int integer, boolean flag, char character, double real, float single, short small, byte tiny,
			Long boxed, String text, BigDecimal decimal, BigInteger big, Number number, byte[] bytes, char[] characters,
			double[] reals, int[][] matrix, UUID uuid, Locale locale, URI uri, Currency currency, TimeUnit unit,
			Instant instant, LocalDate localDate, Duration duration, ZonedDateTime zoned, OffsetDateTime offset,
			Date date, java.sql.Date sqlDate, Order order, List<Order> orders, Order[] orderArray,
			Optional<Order> optional, OptionalInt optionalInt, Set<String> set, Map<String, List<Integer>> lists,
			EnumMap<Unit, Instant> enumMap, List<Animal> animals, Animal animal, Map<String, ? extends Animal> byName,
			Page<Order> page, HashSet<String> hashSet, HashMap<Integer, Integer> hashMap, JsonNode tree, Bean bean,
			Unstored unstored, UnstoredFinal unstoredFinal, Minutes minutes, ReadOnly readOnly, Cached cached,
			Basket basket, Ignoring ignoring, Node node) {
	}

	enum Unit {

		PIECE, BOX {
			@Override
			public String toString() {
				return "a box";
			}
		}

	}

	record Order(long id, List<String> lines, Unit unit) {

		public int getSize() {
			return this.lines.size();
		}

		public boolean isEmpty() {
			return false;
		}

	}

	record Page<T>(List<T> content, int number) {
	}

	@JsonTypeInfo(use = JsonTypeInfo.Id.NAME)
	@JsonSubTypes({ @JsonSubTypes.Type(Dog.class), @JsonSubTypes.Type(value = Cat.class, name = "cat") })
	interface Animal {

	}

	@JsonTypeName("dog")
	record Dog(String name) implements Animal {
	}

	record Cat(int lives) implements Animal {
	}

	static class Bean {

		public String name;

		public Order order;

		@JsonIgnore
		public Thread getThread() {
			return Thread.currentThread();
		}

	}

	static class BeanWithCustomer extends Bean {

		public Object customer;

	}

	static class Ignoring {

		public String name;

		@JsonIgnore
		public Object field;

		private String getter;

		@JsonIgnore
		public String getGetter() {
			return this.getter;
		}

	}

	static class Unstored extends Bean {

		private int hidden;

		private Object self;

		@JsonProperty(access = JsonProperty.Access.WRITE_ONLY)
		public String password;

	}

	record Minutes(@JsonFormat(pattern = "yyyy-MM-dd HH:mm") LocalDateTime time) {
	}

	static class UnstoredFinal {

		public final String name;

		private final Integer hidden;

		@JsonCreator
		UnstoredFinal(String name, Integer hidden) {
			this.name = name;
			this.hidden = hidden;
		}

	}

	static class Cached {

		public String name;

		private transient int cache;

		@JsonIgnore
		private String ignored;

		private int hash;

		@Override
		public boolean equals(Object other) {
			return other instanceof Cached cached && cached.name.equals(this.name);
		}

		@Override
		public int hashCode() {
			this.hash = this.name.hashCode();
			return this.hash;
		}

	}

	static class Basket {

		public Set<Double> prices;

	}

	static class ReadOnly {

		public int getValue() {
			return 5;
		}

	}

	static class Node {

		public Node next;

	}

}
