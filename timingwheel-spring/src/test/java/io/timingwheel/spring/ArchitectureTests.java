package io.timingwheel.spring;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/**
 * Which package may use which, and which optional libraries a class may use. Maven
 * enforces the dependencies between modules.
 */
@AnalyzeClasses(packages = "io.timingwheel", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String CORE = "io.timingwheel";

	private static final String TASK = "io.timingwheel.spring.task";

	private static final String INTERNAL = "io.timingwheel.spring.task.internal";

	private static final String MEMORY = "io.timingwheel.spring.task.memory";

	private static final String ANNOTATION = "io.timingwheel.spring.annotation";

	private static final String DELAYED = "io.timingwheel.spring.aop.internal.delayed";

	private static final String TIMEOUT = "io.timingwheel.spring.aop.internal.timeout";

	@ArchTest
	static final ArchRule theTemplateUsesTheCoreAlone = uses(TASK, CORE);

	@ArchTest
	static final ArchRule whatAllTasksShareUsesTheTemplateAndTheCore = uses(INTERNAL, CORE, TASK);

	@ArchTest
	static final ArchRule tasksInMemoryUseWhatAllTasksShare = uses(MEMORY, CORE, TASK, INTERNAL);

	@ArchTest
	static final ArchRule annotationsUseTheTemplateAlone = uses(ANNOTATION, TASK);

	@ArchTest
	static final ArchRule tasksDoNotKnowLimits = noClasses().that()
		.resideInAPackage(DELAYED)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(TIMEOUT);

	@ArchTest
	static final ArchRule limitsDoNotKnowTasks = noClasses().that()
		.resideInAPackage(TIMEOUT)
		.should()
		.dependOnClassesThat()
		.resideInAPackage(DELAYED);

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching("io.timingwheel.(**)").should().beFreeOfCycles();

	@ArchTest
	static final ArchRule transactionsAreOptional = areOptional(
			INTERNAL + ".Transactions|" + DELAYED + ".TaskMethodReader", "org.springframework.transaction..");

	@ArchTest
	static final ArchRule reactorIsOptional = areOptional(
			TIMEOUT + ".ReactorTimeout|" + DELAYED + ".PendingCancellation", "reactor..", "org.reactivestreams..");

	@ArchTest
	static final ArchRule nobodyUsesJacksonOrDurableTasks = noClasses().should()
		.dependOnClassesThat()
		.resideInAnyPackage("tools.jackson..", "com.fasterxml.jackson..", "io.timingwheel.spring.durable..");

	/** Of our packages, a package may use only these and itself. */
	private static ArchRule uses(String user, String... used) {
		return noClasses().that()
			.resideInAPackage(user)
			.should()
			.dependOnClassesThat(
					resideInAPackage("io.timingwheel..").and(not(resideInAPackage(user).or(resideInAnyPackage(used)))));
	}

	/** Only the classes with these names may use the packages of a library. */
	private static ArchRule areOptional(String users, String... packages) {
		return noClasses().that()
			.haveNameNotMatching("(" + users + ")(\\$.*)?")
			.should()
			.dependOnClassesThat()
			.resideInAnyPackage(packages);
	}

}
