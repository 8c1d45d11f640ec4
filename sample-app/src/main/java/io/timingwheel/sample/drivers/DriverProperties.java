package io.timingwheel.sample.drivers;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of drivers.
 *
 * @param silence how long after the last heartbeat a driver goes offline
 */
@ConfigurationProperties("drivers")
record DriverProperties(@DefaultValue("10m") Duration silence) {
}
