package io.timingwheel.spring;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.timingwheel.spring.durable.autoconfigure.StoreMetrics;
import io.timingwheel.spring.durable.autoconfigure.TimingWheelStoreAutoConfiguration;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.targetOwner;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Which package may use which, and which optional libraries a class may use. Maven
 * enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel.spring.durable", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String CORE = "io.timingwheel";

	private static final String TASK = "io.timingwheel.spring.task";

	private static final String TASK_INTERNAL = "io.timingwheel.spring.task.internal";

	private static final String DURABLE = "io.timingwheel.spring.durable";

	private static final String AUTOCONFIGURE = DURABLE + ".autoconfigure";

	private static final String OPERATORS = "io.timingwheel.spring.actuate.internal";

	private static final String METHODS = "io.timingwheel.spring.aop.internal.delayed";

	private static final String OURS = "io.timingwheel..";

	@ArchTest
	static final ArchRule theTypesOfUsersAndOfStoresUseTheTemplateAlone = noClasses().that()
		.resideInAnyPackage(DURABLE, DURABLE + ".store")
		.should()
		.dependOnClassesThat(resideInOursExcept(TASK, DURABLE, DURABLE + ".store"));

	@ArchTest
	static final ArchRule theNodeKnowsNeitherCallsNorPayloads = noClasses().that()
		.resideInAPackage(DURABLE + ".node")
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK, TASK_INTERNAL, DURABLE, DURABLE + ".store",
				DURABLE + ".node", OPERATORS, METHODS));

	@ArchTest
	static final ArchRule onlyTheAutoConfigurationUsesSpringBoot = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.boot..", "io.timingwheel.spring.autoconfigure..", AUTOCONFIGURE);

	@ArchTest
	static final ArchRule onlyWhatOperatorsSeeUsesTheEndpoints = noClasses().that()
		.resideOutsideOfPackages(DURABLE + ".admin", AUTOCONFIGURE)
		.and()
		.haveNameNotMatching(".*\\.node\\.(DurableNode|StoreAvailability)")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.timingwheel.spring.actuate..");

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule transactionsAreOptional = noClasses().that()
		.haveNameNotMatching(".*\\.node\\.TransactionalBodies(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.transaction..");

	@ArchTest
	static final ArchRule metersAreOptional = noClasses().that()
		.haveNameNotMatching(".*\\.(StoreMetrics|TimingWheelStoreAutoConfiguration\\$Metrics)")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("io.micrometer..");

	@ArchTest
	static final ArchRule onlyPayloadsAreJson = noClasses().that()
		.resideOutsideOfPackage(DURABLE + ".payload")
		.and()
		.haveNameNotMatching(".*\\.TimingWheelStoreAutoConfiguration")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..");

	@ArchTest
	static final ArchRule noStoreIsKnown = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.jdbc..", "org.springframework.data..", "javax.sql..", "io.lettuce..");

	/**
	 * All nodes go by the clock of the store, so that their own clocks may be wrong. The
	 * exceptions make a message, the ids, and the due time of a call whose transaction is
	 * open.
	 */
	@ArchTest
	static final ArchRule theClockOfTheMachineDecidesNothing = noClasses().that()
		.haveNameNotMatching(".*\\.(node\\.StoreAvailability|call\\.DurableTasks)")
		.should()
		.accessTargetWhere(target(nameMatching("now|millis|currentTimeMillis"))
			.and(targetOwner(resideInAnyPackage("java.time..", "java.lang..", "java.util.."))));

	private static DescribedPredicate<JavaClass> resideInOursExcept(String... packages) {
		return resideInAPackage(OURS).and(DescribedPredicate.not(resideInAnyPackage(packages)));
	}

}
