//! What a home has: twelve devices, their things, and the things' properties, with how often each is sent and how it moves.
//!
//! Sums over all of it: about 6,958 messages and 12,771 values a day, 580 messages a device, so that 438 days make the study's 5.6 million values. The names of
//! devices are the study's. Their properties are those that such devices commonly send.

use super::signal::{Level, Signal};

/// A physical device.
#[derive(Debug, Clone, Copy)]
pub struct Device {
    /// What its owner calls it.
    pub name: &'static str,
    /// Its parts.
    pub things: &'static [Thing],
}

/// A logical part of a device. It sends all of its properties in one message.
#[derive(Debug, Clone, Copy)]
pub struct Thing {
    /// Its name, unique in the device.
    pub name: &'static str,
    /// From one message's turn to the next, in seconds; an hour is a multiple of it.
    pub every_s: u32,
    /// A message comes less than this long after its turn, in ms; shorter than `every_s`. What happens on events has nearly all of it.
    pub jitter_ms: u32,
    /// The share of turns in which a message comes.
    pub share: f64,
    /// Whether messages come when people are up ([`RHYTHM`]), rather than evenly.
    pub by_people: bool,
    /// What it sends.
    pub properties: &'static [Property],
}

/// A sensor or control: one series a home.
#[derive(Debug, Clone, Copy)]
pub struct Property {
    /// Its name, unique in the thing.
    pub name: &'static str,
    /// How it moves, and so its type.
    pub signal: Signal,
}

/// How much happens in each hour (UTC) of a day, 1 on average.
pub const RHYTHM: [f64; 24] = [
    0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 2.0, 1.5, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 1.5, 2.0, 2.0, 2.0, 1.9,
    1.7, 1.0, 0.5,
];

/// The device that the study's queries are about, and its property.
pub const WEATHER_STATION: (&str, &str) = ("Weather station", "temp");

const fn property(name: &'static str, signal: Signal) -> Property {
    Property { name, signal }
}

/// A thing that reports at an interval with a little jitter.
const fn periodic(
    name: &'static str,
    every_s: u32,
    jitter_ms: u32,
    properties: &'static [Property],
) -> Thing {
    Thing { name, every_s, jitter_ms, share: 1.0, by_people: false, properties }
}

/// A thing that reports when something happens, so often a day: at most once a quarter of an hour, anywhere in it.
const fn on_events(name: &'static str, a_day: f64, properties: &'static [Property]) -> Thing {
    Thing { name, every_s: 900, jitter_ms: 899_000, share: a_day / 96.0, by_people: true, properties }
}

/// What keeps a device on the network: the strength of its signal, and how long it has run.
const CONTROLLER: Thing = periodic(
    "controller",
    600,
    3_000,
    &[
        property(
            "signal",
            Signal::Whole(Level {
                mean: -62.0,
                drift: 12.0,
                drift_turns: 72,
                noise: 4.0,
                low: -95.0,
                high: -30.0,
                ..Level::STILL
            }),
        ),
        property("uptime", Signal::Uptime { turns: 2_016 }),
    ],
);

const LIGHT_STRIP: &[Thing] = &[
    on_events(
        "light",
        30.0,
        &[
            property("power", Signal::Switch { share: 0.55, hold: 1 }),
            property("brightness", BRIGHTNESS),
            property(
                "colour",
                Signal::Words {
                    words: &["#ffffff", "#ff8800", "#ff0000", "#0044ff", "#00cc44", "#8800cc"],
                    hold: 4,
                },
            ),
            property("effect", Signal::Words { words: &["none", "fade", "rainbow", "strobe"], hold: 8 }),
        ],
    ),
    CONTROLLER,
];

const BRIGHTNESS: Signal =
    Signal::Whole(Level { mean: 60.0, drift: 40.0, drift_turns: 4, low: 0.0, high: 100.0, ..Level::STILL });

const METER: &[Thing] = &[periodic(
    "meter",
    60,
    2_000,
    &[
        property(
            "power",
            Signal::Float(Level {
                mean: 620.0,
                day: 240.0,
                drift: 300.0,
                drift_turns: 30,
                noise: 60.0,
                low: 0.0,
                high: 9_200.0,
                per_unit: 8.0,
                ..Level::STILL
            }),
        ),
        property("energy", Signal::Meter { step: 11 }),
    ],
)];

/// The devices of a home.
pub const DEVICES: [Device; 12] = [
    Device {
        name: "Gate",
        things: &[
            on_events(
                "gate",
                40.0,
                &[
                    property(
                        "state",
                        Signal::Words { words: &["closed", "opening", "open", "closing"], hold: 1 },
                    ),
                    property("position", BRIGHTNESS),
                ],
            ),
            CONTROLLER,
        ],
    },
    Device {
        name: "Chandelier",
        things: &[
            on_events(
                "light",
                24.0,
                &[
                    property("power", Signal::Switch { share: 0.5, hold: 1 }),
                    property("brightness", BRIGHTNESS),
                ],
            ),
            CONTROLLER,
        ],
    },
    Device { name: "LED strip, kitchen", things: LIGHT_STRIP },
    Device { name: "LED strip, stairs", things: LIGHT_STRIP },
    Device {
        name: "Thermometer",
        things: &[periodic(
            "room",
            150,
            4_000,
            &[
                property(
                    "temp",
                    Signal::Float(Level {
                        mean: 21.5,
                        year: 1.5,
                        day: 0.75,
                        drift: 1.0,
                        drift_turns: 96,
                        noise: 0.0625,
                        low: 5.0,
                        high: 40.0,
                        per_unit: 16.0,
                    }),
                ),
                property("hum", HUMIDITY),
            ],
        )],
    },
    Device {
        name: WEATHER_STATION.0,
        things: &[Thing {
            // A message in sixty does not make it through the garden.
            share: 0.983_333,
            ..periodic(
                "meteo",
                900,
                20_000,
                &[
                    property(
                        WEATHER_STATION.1,
                        Signal::Float(Level {
                            mean: 9.5,
                            year: 10.0,
                            day: 4.5,
                            drift: 6.0,
                            drift_turns: 288,
                            noise: 0.25,
                            low: -40.0,
                            high: 60.0,
                            per_unit: 16.0,
                        }),
                    ),
                    property("hum", HUMIDITY),
                    property(
                        "press",
                        Signal::Float(Level {
                            mean: 1_013.0,
                            drift: 25.0,
                            drift_turns: 384,
                            noise: 0.25,
                            low: 900.0,
                            high: 1_100.0,
                            per_unit: 8.0,
                            ..Level::STILL
                        }),
                    ),
                ],
            )
        }],
    },
    Device { name: "Electricity meter, house", things: METER },
    Device { name: "Electricity meter, garage", things: METER },
    Device {
        name: "Television",
        things: &[
            on_events(
                "player",
                40.0,
                &[
                    property("power", Signal::Switch { share: 0.6, hold: 2 }),
                    property(
                        "app",
                        Signal::Words {
                            words: &["home", "films", "music", "Fernsehen über Kabel", "games"],
                            hold: 3,
                        },
                    ),
                    property("volume", BRIGHTNESS),
                ],
            ),
            CONTROLLER,
        ],
    },
    Device {
        name: "Audio receiver",
        things: &[
            on_events(
                "amplifier",
                40.0,
                &[
                    property("power", Signal::Switch { share: 0.6, hold: 2 }),
                    property("input", Signal::Words { words: &["tv", "stream", "phono", "radio"], hold: 6 }),
                    property(
                        "volume",
                        Signal::Float(Level {
                            mean: -35.0,
                            drift: 18.0,
                            drift_turns: 4,
                            low: -80.0,
                            high: 0.0,
                            per_unit: 2.0,
                            ..Level::STILL
                        }),
                    ),
                ],
            ),
            CONTROLLER,
        ],
    },
    Device {
        name: "Hot tub",
        things: &[
            periodic(
                "water",
                120,
                3_000,
                &[
                    property(
                        "temp",
                        Signal::Float(Level {
                            mean: 36.5,
                            day: 1.0,
                            drift: 1.5,
                            drift_turns: 180,
                            noise: 0.0625,
                            low: 2.0,
                            high: 45.0,
                            per_unit: 16.0,
                            ..Level::STILL
                        }),
                    ),
                    property("heater", Signal::Switch { share: 0.35, hold: 12 }),
                ],
            ),
            on_events(
                "pump",
                36.0,
                &[
                    property("power", Signal::Switch { share: 0.5, hold: 1 }),
                    property(
                        "target",
                        Signal::Whole(Level {
                            mean: 37.0,
                            drift: 2.0,
                            drift_turns: 96,
                            low: 20.0,
                            high: 40.0,
                            ..Level::STILL
                        }),
                    ),
                ],
            ),
        ],
    },
    Device {
        name: "Anemometer",
        things: &[
            periodic("cup", 60, 2_000, &[property("speed", WIND)]),
            periodic(
                "vane",
                600,
                3_000,
                &[
                    property("gust", WIND),
                    property(
                        "direction",
                        Signal::Words { words: &["W", "SW", "NW", "S", "N", "SE", "E", "NE"], hold: 9 },
                    ),
                ],
            ),
        ],
    },
];

const HUMIDITY: Signal = Signal::Float(Level {
    mean: 58.0,
    day: -8.0,
    drift: 18.0,
    drift_turns: 192,
    noise: 1.0,
    low: 0.0,
    high: 100.0,
    per_unit: 4.0,
    ..Level::STILL
});

const WIND: Signal = Signal::Float(Level {
    mean: 3.0,
    day: 1.0,
    drift: 5.0,
    drift_turns: 120,
    noise: 1.5,
    low: 0.0,
    high: 60.0,
    per_unit: 16.0,
    ..Level::STILL
});
