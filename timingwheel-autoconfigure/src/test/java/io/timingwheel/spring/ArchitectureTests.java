package io.timingwheel.spring;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Which package may use which, and which optional libraries a class may use. Maven
 * enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String JDBC = "io.timingwheel.spring.durable.jdbc";

	private static final String REDIS = "io.timingwheel.spring.durable.redis";

	private static final String AUTOCONFIGURE = "io.timingwheel.spring.autoconfigure";

	private static final String JDBC_CONFIGURATION = ".*\\.(TimingWheelJdbcStore(AutoConfiguration|Properties)|JdbcStoreDataSources|ConnectionWaitCheck|TimingWheelDataSourceScriptDatabaseInitializer)(\\$.*)?";

	private static final String REDIS_CONFIGURATION = ".*\\.(TimingWheelRedisStore(AutoConfiguration|Properties)|RedisStoreConnection)(\\$.*)?";

	@ArchTest
	static final ArchRule onlyItsAutoConfigurationUsesTheJdbcStore = noClasses().that()
		.resideOutsideOfPackage(JDBC)
		.and()
		.haveNameNotMatching(JDBC_CONFIGURATION)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(JDBC, "org.springframework.jdbc..", "org.springframework.boot.jdbc..",
				"org.springframework.boot.sql..", "javax.sql..");

	@ArchTest
	static final ArchRule onlyItsAutoConfigurationUsesTheRedisStore = noClasses().that()
		.resideOutsideOfPackage(REDIS)
		.and()
		.haveNameNotMatching(REDIS_CONFIGURATION)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage(REDIS, "org.springframework.data..", "io.lettuce..");

	@ArchTest
	static final ArchRule nobodyUsesTheAutoConfiguration = noClasses().that()
		.resideOutsideOfPackage(AUTOCONFIGURE)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE);

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

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
		.haveNameMatching(
				".*\\.TimingWheel((Store|JdbcStore|RedisStore|Task)?Properties|Customizer|DataSourceScriptDatabaseInitializer)");

}
