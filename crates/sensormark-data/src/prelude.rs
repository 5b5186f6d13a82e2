//! What modules of this crate name: the contract's readings and tables, what generators share, and what they take of libraries.

pub(crate) use {
    crate::{
        elementary::sine_of_turns,
        export::{BATCH, DataSet},
        random::{Stream, Streams, finalise},
        shapes::shape::{
            Number::{self, *},
            whole,
        },
        table::{field, rows, table},
        units::{round_u64, seconds_to_ns, signed},
    },
    itertools::Itertools,
    sensormark_store::{
        Batch, Column, Entity, Field, FieldSet,
        FieldType::{self, *},
        Schema, Series, Table, Tag, TagColumn, TimeRange, TimeResolution, Value, Values,
        text::{Page, Piece},
    },
    serde::{Deserialize, Serialize},
    std::{
        collections::{BTreeMap, BTreeSet, HashMap},
        fmt::{self, Display, Formatter},
        fs::File,
        io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
        num::NonZeroU64,
        ops::Range,
        path::{Path, PathBuf},
        str::FromStr,
        sync::{Arc, LazyLock},
    },
};
