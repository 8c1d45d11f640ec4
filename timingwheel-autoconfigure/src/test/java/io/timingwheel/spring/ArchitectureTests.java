package io.timingwheel.spring;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Who may know whom, and where the libraries end that an application may do without.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String CORE = "io.timingwheel";

	private static final String TASK = "io.timingwheel.spring.task";

	private static final String ANNOTATION = "io.timingwheel.spring.annotation";

	private static final String DURABLE = "io.timingwheel.spring.durable";

	private static final String JDBC = "io.timingwheel.spring.durable.jdbc";

	private static final String REDIS = "io.timingwheel.spring.durable.redis";

	private static final String AOP = "io.timingwheel.spring.aop..";

	private static final String ACTUATE = "io.timingwheel.spring.actuate";

	private static final String AUTOCONFIGURE = "io.timingwheel.spring.autoconfigure";

	private static final String OURS = "io.timingwheel..";

	@ArchTest
	static final ArchRule theCoreKnowsNoSpring = noClasses().that()
		.resideInAPackage(CORE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework..", "io.timingwheel.spring..");

	@ArchTest
	static final ArchRule tasksKnowTheCoreAlone = noClasses().that()
		.resideInAPackage(TASK)
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK));

	@ArchTest
	static final ArchRule annotationsKnowTasksAlone = noClasses().that()
		.resideInAPackage(ANNOTATION)
		.should()
		.dependOnClassesThat(resideInOursExcept(TASK, ANNOTATION));

	@ArchTest
	static final ArchRule theJdbcStoreKnowsTheSeamAndTasksAlone = noClasses().that()
		.resideInAPackage(JDBC)
		.should()
		.dependOnClassesThat(resideInOursExcept(TASK, DURABLE, JDBC));

	@ArchTest
	static final ArchRule nobodyKnowsTheJdbcStoreButItsAutoConfiguration = noClasses().that()
		.resideOutsideOfPackage(JDBC)
		.and()
		.haveNameNotMatching(".*\\.TimingWheelJdbcStoreAutoConfiguration(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(JDBC);

	@ArchTest
	static final ArchRule durableTasksKnowTasksAndAnnotationsAlone = noClasses().that()
		.resideInAPackage(DURABLE)
		.should()
		.dependOnClassesThat(resideInOursExcept(CORE, TASK, ANNOTATION, DURABLE));

	@ArchTest
	static final ArchRule theRedisStoreKnowsTheSeamAndTasksAlone = noClasses().that()
		.resideInAPackage(REDIS)
		.should()
		.dependOnClassesThat(resideInOursExcept(TASK, DURABLE, REDIS));

	@ArchTest
	static final ArchRule nobodyKnowsTheRedisStoreButItsAutoConfiguration = noClasses().that()
		.resideOutsideOfPackage(REDIS)
		.and()
		.haveNameNotMatching(".*\\.TimingWheelRedisStoreAutoConfiguration(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(REDIS);

	@ArchTest
	static final ArchRule adviceKnowsNeitherTheActuatorNorTheAutoConfiguration = noClasses().that()
		.resideInAPackage(AOP)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(ACTUATE, AUTOCONFIGURE);

	@ArchTest
	static final ArchRule theTwoKindsOfAdviceDoNotKnowEachOther = slices().matching("io.timingwheel.spring.aop.(*)..")
		.should()
		.notDependOnEachOther();

	@ArchTest
	static final ArchRule nobodyKnowsTheAutoConfiguration = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE);

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule tasksAndAnnotationsWorkWithoutBoot = noClasses().that()
		.resideInAnyPackage(TASK, ANNOTATION)
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.boot..");

	@ArchTest
	static final ArchRule actuatorAndMicrometerAreOptional = noClasses().that()
		.resideOutsideOfPackages(ACTUATE, AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.micrometer..", "org.springframework.boot.actuate..",
				"org.springframework.boot.health..", "org.springframework.boot.micrometer..");

	@ArchTest
	static final ArchRule transactionsAreOptional = noClasses().that()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.task\\.Transactions(\\$.*)?")
		.and()
		.resideOutsideOfPackage(JDBC)
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.transaction..");

	@ArchTest
	static final ArchRule springJdbcIsOptional = noClasses().that()
		.resideOutsideOfPackage(JDBC)
		.and()
		.haveNameNotMatching(".*\\.TimingWheelJdbcStoreAutoConfiguration(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.jdbc..", "org.springframework.boot.jdbc..",
				"org.springframework.boot.sql..", "javax.sql..");

	@ArchTest
	static final ArchRule springDataRedisIsOptional = noClasses().that()
		.resideOutsideOfPackage(REDIS)
		.and()
		.haveNameNotMatching(".*\\.TimingWheelRedisStoreAutoConfiguration(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.data..", "io.lettuce..");

	@ArchTest
	static final ArchRule reactorIsOptional = noClasses().that()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.aop\\.timeout\\.ReactorTimeout(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("reactor..", "org.reactivestreams..");

	@ArchTest
	static final ArchRule jacksonIsOptional = noClasses().that()
		.resideOutsideOfPackages(ACTUATE, AUTOCONFIGURE)
		.and()
		.haveNameNotMatching("io\\.timingwheel\\.spring\\.durable\\.Payload.*")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..");

	@ArchTest
	static final ArchRule packagesAreNullMarked = classes()
		.should(ArchCondition.from(DescribedPredicate.describe("reside in a package that is @NullMarked",
				(type) -> type.getPackage().isAnnotatedWith(NullMarked.class))));

	@ArchTest
	static final ArchRule ofTheAutoConfigurationOnlyWhatUsersNeedIsPublic = classes().that()
		.resideInAPackage(AUTOCONFIGURE)
		.and()
		.areTopLevelClasses()
		.and()
		.arePublic()
		.should()
		.beAnnotatedWith(AutoConfiguration.class)
		.orShould()
		.haveNameMatching(".*\\.TimingWheel(Properties|Customizer)");

	private static DescribedPredicate<JavaClass> resideInOursExcept(String... packages) {
		return resideInAPackage(OURS).and(DescribedPredicate.not(resideInAnyPackage(packages)));
	}

}
