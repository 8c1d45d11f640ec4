package io.timingwheel.sample;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.syntax.elements.GivenClassesConjunction;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Which package may use which, which optional libraries a class may use, and which
 * classes are public. The sample app has all modules. Maven enforces the dependencies
 * between them.
 */
@AnalyzeClasses(packages = "io.timingwheel",
		importOptions = { ImportOption.DoNotIncludeTests.class, ArchitectureTests.NotGenerated.class })
class ArchitectureTests {

	private static final String CORE = "io.timingwheel";

	private static final String SPRING = "io.timingwheel.spring";

	private static final String TASK = SPRING + ".task";

	private static final String SHARED = SPRING + ".task.internal";

	private static final String ADVICE = SPRING + ".aop.internal";

	private static final String CONSOLE = SPRING + ".console";

	private static final String DURABLE = SPRING + ".durable";

	private static final String VIRTUAL_TIME = CORE + ".test";

	/** What an application with the starter alone has. */
	private static final String[] STARTER = { CORE, TASK + "..", SPRING + ".annotation", SPRING + ".aop..",
			SPRING + ".actuate..", SPRING + ".autoconfigure.." };

	/** The module of durable tasks, which has no store. */
	private static final String[] DURABLE_TASKS = { DURABLE, DURABLE + ".store", DURABLE + ".node", DURABLE + ".call",
			DURABLE + ".payload", DURABLE + ".admin", DURABLE + ".autoconfigure" };

	private static final String[] STORES = { DURABLE + ".jdbc..", DURABLE + ".redis..", "org.springframework.jdbc..",
			"org.springframework.data..", "javax.sql..", "io.lettuce.." };

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule theCoreHasTwoPackagesAndUsesTheJdkAlone = classes()
		.that(describe("are in its module",
				(type) -> type.getSource().toString().contains("/timingwheel-core/target/")))
		.should()
		.onlyDependOnClassesThat()
		.resideInAnyPackage(CORE, CORE + ".internal", "java..", "org.jspecify.annotations");

	@ArchTest
	static final ArchRule theTemplateUsesTheCoreAlone = uses(TASK, CORE);

	@ArchTest
	static final ArchRule whatAllTasksShareUsesTheTemplateAndTheCore = uses(SHARED, CORE, TASK);

	@ArchTest
	static final ArchRule tasksInMemoryUseWhatAllTasksShare = uses(TASK + ".memory", CORE, TASK, SHARED);

	@ArchTest
	static final ArchRule annotationsUseTheTemplateAlone = uses(SPRING + ".annotation", TASK);

	@ArchTest
	static final ArchRule theTypesOfUsersUseTheTemplateAndTheStore = uses(DURABLE, TASK, DURABLE + ".store");

	@ArchTest
	static final ArchRule theTypesOfStoresUseTheTemplateAlone = uses(DURABLE + ".store", TASK, DURABLE);

	@ArchTest
	static final ArchRule theNodeDoesNotKnowCalls = uses(DURABLE + ".node", CORE, TASK, SHARED, DURABLE,
			DURABLE + ".store", DURABLE + ".payload", SPRING + ".actuate.internal", ADVICE);

	@ArchTest
	static final ArchRule theStarterKnowsNoDurableTasks = doNotUse(none(STARTER), DURABLE + "..", "tools.jackson..");

	@ArchTest
	static final ArchRule storesAreOptional = doNotUse(
			noClasses().that().resideOutsideOfPackages(DURABLE + ".jdbc..", DURABLE + ".redis..", CORE + ".sample.."),
			STORES);

	@ArchTest
	static final ArchRule onlyTheAutoConfigurationUsesSpringBoot = doNotUse(
			none(DURABLE + "..").and().resideOutsideOfPackages(DURABLE + "..autoconfigure"),
			"org.springframework.boot..", SPRING + "..autoconfigure..");

	@ArchTest
	static final ArchRule nobodyUsesTheAutoConfigurationOfTheStarter = doNotUse(
			none(STARTER).and().resideOutsideOfPackage(SPRING + ".autoconfigure.."), SPRING + ".autoconfigure..");

	@ArchTest
	static final ArchRule onlyWhatOperatorsSeeUsesTheEndpoints = doNotUse(
			but("DurableNode|StoreAvailability", DURABLE_TASKS).and()
				.resideOutsideOfPackages(DURABLE + ".admin", DURABLE + ".autoconfigure"),
			SPRING + ".actuate..");

	@ArchTest
	static final ArchRule onlyPayloadsAreJson = doNotUse(
			but("TimingWheelStoreAutoConfiguration", DURABLE_TASKS).and().resideOutsideOfPackage(DURABLE + ".payload"),
			"tools.jackson..", "com.fasterxml.jackson..");

	@ArchTest
	static final ArchRule transactionsAreOptionalForTasksInMemory = doNotUse(
			but("Transactions|TaskMethodReader", TASK + "..", SPRING + ".aop.."), "org.springframework.transaction..");

	@ArchTest
	static final ArchRule transactionsAreOptionalForDurableTasks = doNotUse(but("TransactionalBodies", DURABLE_TASKS),
			"org.springframework.transaction..");

	@ArchTest
	static final ArchRule reactorIsOptional = doNotUse(
			but("ReactorTimeout|PendingCancellation", TASK + "..", SPRING + ".aop.."), "reactor..",
			"org.reactivestreams..");

	@ArchTest
	static final ArchRule metersAreOptional = doNotUse(
			but("StoreMetrics|TimingWheelStoreAutoConfiguration\\$Metrics", DURABLE_TASKS), "io.micrometer..");

	@ArchTest
	static final ArchRule servletsAreOptional = doNotUse(but("ServletCsrfTokenHeader", CONSOLE), "jakarta.servlet..",
			"org.springframework.web.context..", "org.springframework.security.web.csrf..");

	@ArchTest
	static final ArchRule webFluxIsOptional = doNotUse(but("CsrfTokenWebFilter", CONSOLE), "reactor..",
			"org.springframework.web.server..", "org.springframework.http..",
			"org.springframework.security.web.server..");

	@ArchTest
	static final ArchRule virtualTimeNeedsNoDurableTasks = doNotUse(
			but("DurableVirtualTimeConfiguration|VirtualNode|VirtualLoops|StoreFaults", VIRTUAL_TIME), DURABLE + "..");

	@ArchTest
	static final ArchRule virtualTimeNeedsNoJUnit = doNotUse(none(VIRTUAL_TIME), "org.junit..");

	/**
	 * All nodes go by the clock of the store, so that their own clocks may be wrong. The
	 * exceptions make a message, the ids, and the due time of a call whose transaction is
	 * open.
	 */
	@ArchTest
	static final ArchRule theClockOfTheMachineDecidesNothing = but("StoreAvailability|DurableTasks", DURABLE + "..")
		.and()
		.resideOutsideOfPackage(DURABLE + ".store.test")
		.should()
		.accessTargetWhere(target(nameMatching("now|millis|currentTimeMillis"))
			.and(targetOwner(resideInAnyPackage("java.time..", "java.lang..", "java.util.."))));

	@ArchTest
	static final ArchRule onlyWhatUsersOrSpringBootNeedIsPublic = classes().that()
		.resideInAnyPackage(SPRING + ".autoconfigure", CONSOLE)
		.and()
		.areTopLevelClasses()
		.and()
		.arePublic()
		.should()
		.beAnnotatedWith(AutoConfiguration.class)
		.orShould()
		.haveNameMatching(".*\\.TimingWheel((Task)?Properties|BuilderCustomizer|ConsoleEndpoint)");

	private static GivenClassesConjunction none(String... packages) {
		return noClasses().that().resideInAnyPackage(packages);
	}

	/**
	 * All classes of packages but those with these names, and the classes nested in them.
	 */
	private static GivenClassesConjunction but(String names, String... packages) {
		return none(packages).and().haveNameNotMatching(".*\\.(" + names + ")(\\$.*)?");
	}

	private static ArchRule doNotUse(GivenClassesConjunction users, String... packages) {
		return users.should().dependOnClassesThat().resideInAnyPackage(packages);
	}

	/** Of our packages, a package may use only these and itself. */
	private static ArchRule uses(String user, String... used) {
		return none(user).should()
			.dependOnClassesThat(
					resideInAPackage("io.timingwheel..").and(not(resideInAPackage(user).or(resideInAnyPackage(used)))));
	}

	/** Leaves out what an earlier build with code generated ahead of time left behind. */
	static final class NotGenerated implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return !location.contains("__") && !location.contains("$$");
		}

	}

}
