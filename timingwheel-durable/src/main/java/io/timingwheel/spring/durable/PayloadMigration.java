package io.timingwheel.spring.durable;

/**
 * Brings stored arguments of an earlier signature of a durable method into the form of
 * the present one. Declare a bean for the name of the task.
 *
 * <p>
 * The migration is called for payloads that do not fit the present parameters: there are
 * more arguments, or fewer and the missing ones have no default, or an argument cannot be
 * read as the type of its parameter, for example because the JSON has a property that its
 * class does not have. What the migration returns is read like any payload, and is not
 * stored. Tasks of one name may call the migration at the same time, so it must be
 * thread-safe.
 *
 * @since 0.1
 */
public interface PayloadMigration {

	/**
	 * The name of the task. Tasks that are stored under an alias of the same method are
	 * migrated too.
	 * @return the name, or an alias of the method
	 */
	String taskName();

	/**
	 * Migrates the arguments of a task.
	 * @param arity how many arguments are stored
	 * @param arguments the stored arguments, a JSON array
	 * @return the arguments of the present signature, a JSON array
	 * @throws Exception if these arguments cannot be migrated: the attempt has failed,
	 * and the task is tried again like any other
	 */
	String migrate(int arity, String arguments) throws Exception;

}
