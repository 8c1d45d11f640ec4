package io.timingwheel.spring;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

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

	private static final String AUTOCONFIGURE = "io.timingwheel.spring.autoconfigure";

	@ArchTest
	static final ArchRule thisModuleKnowsNoStoreAndNoDurableTasks = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("io.timingwheel.spring.durable..", "org.springframework.jdbc..",
				"org.springframework.boot.jdbc..", "org.springframework.boot.sql..", "javax.sql..",
				"org.springframework.data..", "io.lettuce..", "tools.jackson..");

	@ArchTest
	static final ArchRule nobodyUsesTheAutoConfiguration = noClasses().that()
		.resideOutsideOfPackages(AUTOCONFIGURE, AUTOCONFIGURE + ".internal")
		.should()
		.dependOnClassesThat()
		.resideInAPackage(AUTOCONFIGURE + "..");

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

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
		.haveNameMatching(".*\\.TimingWheel((Task)?Properties|BuilderCustomizer)");

}
