package io.timingwheel.spring.durable.payload

@Suppress("unused", "UNUSED_PARAMETER")
class KotlinSignatures {

    fun order(order: KotlinOrder) {
    }

    fun nullable(id: Long, reason: String?, count: Int?) {
    }

    fun withDefault(id: Long, reason: String = "none") {
    }

}
