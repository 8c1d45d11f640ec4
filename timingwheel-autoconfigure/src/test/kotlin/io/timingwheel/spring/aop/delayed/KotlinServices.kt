package io.timingwheel.spring.aop.delayed

import io.timingwheel.spring.annotation.CancelDelayed
import io.timingwheel.spring.annotation.Delayed
import io.timingwheel.spring.annotation.MethodTimeoutException
import io.timingwheel.spring.annotation.Timeout
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CopyOnWriteArrayList
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Deferred
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.future.await
import kotlinx.coroutines.runBlocking

/** A class as Kotlin compiles it by default: the class and its functions are final. */
class FinalByDefault {

    @Delayed("10s")
    fun run() {
    }

}

open class Suspending {

    @Delayed("10s")
    open suspend fun run() {
    }

}

/** Payments that suspend until the bank has answered. */
open class SuspendingPayments {

    @Delayed(delay = "10s", name = "close-order", key = "#orderId")
    open fun closeIfUnpaid(orderId: Long) {
    }

    @CancelDelayed(name = "close-order", key = "#orderId")
    open suspend fun pay(orderId: Long, bank: CompletableFuture<String>): String = bank.await()

    @CancelDelayed(name = "close-order", key = "#orderId")
    open suspend fun payWithoutReceipt(orderId: Long, bank: CompletableFuture<String>) {
        bank.await()
    }

    @CancelDelayed(name = "close-order", key = "#orderId")
    open fun payInParts(orderId: Long, bank: CompletableFuture<String>): Flow<String> = flow {
        emit("first")
        emit(bank.await())
    }

}

/** Functions with default arguments, for callers in Java too. */
open class Overloads {

    open val closed: MutableList<String> = CopyOnWriteArrayList()

    @JvmOverloads
    @Delayed(delay = "10s", name = "close-overload", key = "#orderId")
    open fun close(orderId: Long, reason: String = "unpaid", by: String = "nobody") {
        closed.add("$orderId $reason $by")
    }

    @JvmOverloads
    @CancelDelayed(name = "close-overload", key = "#orderId")
    open fun pay(orderId: Long, note: String = "") {
    }

    @JvmOverloads
    @Timeout("20ms")
    open fun quote(orderId: Long = 1): String {
        Thread.sleep(60_000)
        return "$orderId"
    }

}

/** Calls with default arguments, as Kotlin compiles them. */
object Defaults {

    @JvmStatic
    fun close(overloads: Overloads, orderId: Long) = overloads.close(orderId, by = "kotlin")

}

/** Limits of suspend functions, with fallbacks of each form. */
open class SuspendingQuotes {

    @Timeout(timeout = "20ms", fallback = "lastSuspending")
    open suspend fun suspending(symbol: String): String = awaitForEver()

    private suspend fun lastSuspending(symbol: String): String = "suspending $symbol".also { delay(1) }

    @Timeout(timeout = "20ms", fallback = "lastWithTimeout")
    open suspend fun withTimeout(symbol: String): String = awaitForEver()

    private suspend fun lastWithTimeout(symbol: String, timeout: MethodTimeoutException): String = "timeout $symbol"

    @Timeout(timeout = "20ms", fallback = "lastPlain")
    open suspend fun plain(symbol: String): String = awaitForEver()

    private fun lastPlain(symbol: String, timeout: MethodTimeoutException): String =
        "plain $symbol " + (timeout.message != null)

    @Timeout(timeout = "20ms", fallback = "lastInternal")
    open suspend fun internal(symbol: String): String = awaitForEver()

    internal fun lastInternal(symbol: String): String = "internal $symbol"

    private suspend fun awaitForEver(): String = CompletableFuture<String>().await()

}

open class BadSuspendingFallback {

    @Timeout(timeout = "20ms", fallback = "last")
    open suspend fun quote(symbol: String): String = symbol

    private suspend fun last(symbol: Long): String = "$symbol"

}

open class SuspendingFallbackOfOrdinaryFunction {

    @Timeout(timeout = "20ms", fallback = "last")
    open fun quote(symbol: String): String = symbol

    private suspend fun last(symbol: String): String = symbol

}

/** Limits of functions that never end by themselves. */
open class Limits {

    @Timeout("20ms")
    open suspend fun suspending(): String = awaitCancellation()

    @Timeout("20ms")
    open fun flow(): Flow<String> = flow { awaitCancellation() }

    @Timeout("20ms")
    open fun deferred(): Deferred<String> = CompletableDeferred()

}

/** The result is computed when somebody reads it. */
open class LimitedSequence {

    @Timeout("20ms")
    open fun limited(): Sequence<String> = sequenceOf()

}

/** Calls suspending functions from Java. */
object Blocking {

    @JvmStatic
    fun suspending(limits: Limits): String = runBlocking { limits.suspending() }

    @JvmStatic
    fun flow(limits: Limits): List<String> = runBlocking { limits.flow().toList() }

    @JvmStatic
    fun deferred(limits: Limits): String = runBlocking { limits.deferred().await() }

    @JvmStatic
    fun pay(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>): String =
        runBlocking { payments.pay(orderId, bank) }

    @JvmStatic
    fun payWithoutReceipt(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>) =
        runBlocking { payments.payWithoutReceipt(orderId, bank) }

    @JvmStatic
    fun payInParts(payments: SuspendingPayments, orderId: Long, bank: CompletableFuture<String>): List<String> =
        runBlocking { payments.payInParts(orderId, bank).toList() }

    @JvmStatic
    fun quotes(quotes: SuspendingQuotes): List<String> = runBlocking {
        listOf(quotes.suspending("tea"), quotes.plain("tea"), quotes.withTimeout("tea"), quotes.internal("tea"))
    }

}
