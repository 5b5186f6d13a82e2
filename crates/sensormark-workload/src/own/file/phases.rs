//! Phases of a workload file: who writes, what is asked, and when.

use super::error::FileError;
use super::form::{At, Batch, File, Load, Phase, Query, Text, Whole, Writers};
use super::life::rounds;
use super::lifecycle;
use super::queries::Asked;
use super::source::{Placed, Source};
use super::tables::{Names, number};
use crate::own::parameters::{
    ByPart, Generator, LifePart, OfPart, PhasePart, QueryKind, QueryPart, TablePart, WhenPart, WritersPart,
};
use crate::own::{LOAD, MIXED, WRITERS, sizes};
use sensormark_data::quantity::length_text;
use sensormark_data::units::round_u64;
use sensormark_engine::lifecycle::BACKUP;

/// The word for all tables.
const ALL: &str = "all";
/// Turns in an operation of writers that go on until the phase ends, unless it is said.
const TURNS: u64 = 100;

/// Reads phases of these tables.
struct Reader<'a, 's> {
    source: &'a Source<'s>,
    tables: &'a [TablePart],
    life: Option<&'a LifePart>,
    day: Option<[u32; 2]>,
    /// What writers and queries of this phase are called.
    names: Names,
    /// Of each table, what was written so far.
    written: Vec<Written>,
}

#[derive(Clone, Default)]
struct Written {
    some: bool,
    /// In which order series had their turns.
    order: Option<Option<(u32, u64)>>,
    /// Whether readings that update an entity came after all others.
    is_bulk: bool,
    /// The phase in which clients wrote as fast as they could, so that nobody knows how much.
    unknown: Option<String>,
}

/// All phases.
pub fn phases(
    source: &Source<'_>,
    file: &File,
    tables: &[TablePart],
    life: Option<&LifePart>,
) -> Result<Vec<PhasePart>, FileError> {
    let mut parts = match life {
        None => empty_phases(source, file)?,
        Some(_) => {
            vec![file.mixed.as_ref().map_or_else(PhasePart::default, |mixed| made(MIXED.to_owned(), mixed))]
        }
    };
    let written = vec![Written::default(); tables.len()];
    let day = file.day.as_ref().map(|day| day.value);
    let mut reader = Reader { source, tables, life, day, names: Names::default(), written };
    let known: Vec<String> = parts.iter().map(|part| part.name.clone()).collect();
    // The last one where none is named.
    let phase = |name: Option<&Text>, of: &dyn Placed| match name {
        None => Ok(known.len() - 1),
        name => number(source, "phase", &known, name, of),
    };
    let of_phases = |mixed: &&At<Phase>| mixed.empty || mixed.settled.is_some();
    if let Some(mixed) = file.mixed.as_ref().filter(of_phases) {
        return Err(source.error(mixed, "empty and settled are for [[phases]]: write this as one of them"));
    }
    let (mut has_task, mut has_backup) = (false, false);
    for (place, part) in parts.iter_mut().enumerate() {
        reader.names = Names::default();
        if part.empty {
            reader.written.fill(Written::default());
        }
        let phase_of = file.phases.get(place).or(file.mixed.as_ref().filter(|_| place > 0));
        if let Some(phase) = phase_of {
            part.task = lifecycle::task(source, phase, tables)?;
        }
        if place == 0 && file.phases.is_empty() && (life.is_none() || file.writers.is_empty()) {
            reader.load(file.load.as_deref(), part)?;
        }
        for one in &file.writers {
            if phase(one.phase.as_ref(), one)? == place {
                let writers = reader.writers(one, part)?;
                part.writers.push(writers);
            }
        }
        for one in &file.queries {
            if phase(one.phase.as_ref(), one)? == place {
                part.queries.push(reader.query(one)?);
            }
        }
        has_task |= part.task.is_some();
        if let Some(phase) = phase_of.filter(|_| has_task) {
            has_backup |= part.task.as_ref().is_some_and(|task| task.task == BACKUP);
            lifecycle::check(source, phase, part, has_backup)?;
        }
        let of = file.phases.get(place).or(file.mixed.as_ref()).map_or(0..0, |phase| phase.place.clone());
        check_end(part).map_err(|message| source.error(&of, message))?;
    }
    match (life, parts.pop(), tables) {
        (Some(life), Some(part), [table]) => Ok(rounds(life, table, part)),
        (_, last, _) => in_sizes(source, file, tables, parts.into_iter().chain(last).collect()),
    }
}

/// That a phase does something, and ends.
fn check_end(part: &PhasePart) -> Result<(), &'static str> {
    let (writes, asks) = (!part.writers.is_empty(), !part.queries.is_empty());
    let ends = part.duration_ns.is_some() || part.queries.iter().all(|query| query.count.is_some());
    if writes || asks && ends || part.task.is_some() {
        return Ok(());
    }
    Err(match asks {
        false => "this phase needs writers or queries: nothing is measured in it",
        true => {
            "this phase only asks and would never end: say how long, duration = \"30s\", or how often, count = 100 of each query"
        }
    })
}

/// The phases of each size, where the file says how long data are kept.
fn in_sizes(
    source: &Source<'_>,
    file: &File,
    tables: &[TablePart],
    parts: Vec<PhasePart>,
) -> Result<Vec<PhasePart>, FileError> {
    let first = file.phases.iter().position(|phase| phase.grows.is_some());
    let (Some(keep), false) = (&file.keep, parts.is_empty()) else {
        return begin_sizes(source, file, tables, parts);
    };
    let (before, sized) = parts.split_at(first.unwrap_or(0));
    let mut later = sized.iter().skip(1).flat_map(|phase| &phase.writers);
    let wrong = if !file.phases.is_empty() && first.is_none() {
        "keep measures the data in sizes: say in which of the [[phases]] they grow, grows = true"
    } else if tables.iter().any(|table| table.series.duration_ns > keep.0) {
        "keep is shorter than series.duration: no more is loaded than is kept"
    } else if parts.iter().any(|phase| phase.writers.iter().any(|part| part.readings.is_some() || part.all))
        || sized.iter().any(|phase| phase.empty || phase.settled.is_some())
    {
        "with keep, the data only grow, by time, and rest after each size: leave empty and settled out of these phases, write load in place of readings, and each table by writers of its own"
    } else if later.any(|part| part.rate.is_none()) {
        "keep needs writers with a rate: the next size goes on where they end"
    } else {
        return Ok([before, &sizes::phases(before, sized, tables)].concat());
    };
    Err(source.error(keep, wrong))
}

/// The same, and what is stored after each phase in which the data grow and those up to the next such one, where those are the sizes.
fn begin_sizes(
    source: &Source<'_>,
    file: &File,
    tables: &[TablePart],
    mut parts: Vec<PhasePart>,
) -> Result<Vec<PhasePart>, FileError> {
    let (mut stored, mut size) = (Some(0_u64), None);
    for place in 0..file.phases.len() {
        let part = &parts[place];
        let turns = part.writers.iter().map(|writers| {
            let several = if writers.all { tables.len() as u64 } else { 1 };
            let series = &tables[writers.table].series;
            let a_turn = if writers.messages { 1.0 } else { series.readings_a_turn() };
            Some(round_u64(writers.turns(series)? as f64 * a_turn).saturating_mul(several))
        });
        let turns = turns.sum::<Option<u64>>();
        stored = stored.filter(|_| !part.empty).or(part.empty.then_some(0));
        stored = stored.zip(turns).map(|(stored, turns)| stored.saturating_add(turns));
        let grows = file.phases[place].grows.as_ref();
        if grows.is_some_and(|grows| !grows.value) {
            parts[place].size = Some(0);
            continue;
        }
        size = grows.map(|at| (place, at)).or(size);
        if let Some((begin, grows)) = size {
            let message = "how many readings are stored then is not known: give all writers of [[phases]] a load or readings";
            parts[begin].size = Some(stored.ok_or_else(|| source.error(grows, message))?);
        }
    }
    Ok(parts)
}

/// Phases without their writers and queries: those of `[[phases]]`, or a load and the mixed one.
fn empty_phases(source: &Source<'_>, file: &File) -> Result<Vec<PhasePart>, FileError> {
    let load = PhasePart { name: LOAD.to_owned(), check_one_in: 1, ..PhasePart::default() };
    let mut parts = if file.phases.is_empty() { vec![load] } else { Vec::new() };
    let mut names = Names::default();
    for phase in &file.phases {
        let name = phase.name.as_ref().ok_or_else(|| source.missing(phase, "name", "\"day\""))?;
        for name in phase.settled.iter().chain([name]) {
            names.take(source, name, str::to_owned)?;
        }
        parts.push(made(name.value.clone(), phase));
    }
    if let Some(mixed) = &file.mixed {
        let mut part = made(MIXED.to_owned(), mixed);
        if mixed.duration.is_none() {
            if file.keep.is_none() {
                return Err(source.missing(mixed, "duration", "\"30s\""));
            }
            // Until the budget is known.
            (part.duration_ns, part.is_by_budget) = (Some(1_000_000_000), true);
        }
        parts.push(part);
    }
    if let Some(stray) =
        file.load.as_ref().map(|load| &load.place).or(file.mixed.as_ref().map(|mixed| &mixed.place))
        && !file.phases.is_empty()
    {
        return Err(source.error(stray, "there are [[phases]] too: write this as one of them"));
    }
    let strays = file.writers.iter().map(|one| &one.place).chain(file.queries.iter().map(|one| &one.place));
    if let Some(stray) = strays.min_by_key(|place| place.start)
        && file.phases.is_empty()
        && file.mixed.is_none()
    {
        let message = "writers and queries need a [mixed] table that says how long: duration = \"30s\"";
        return Err(source.error(stray, message));
    }
    Ok(parts)
}

fn made(name: String, phase: &Phase) -> PhasePart {
    PhasePart {
        name,
        duration_ns: phase.duration.as_ref().map(|length| length.0.unsigned_abs()),
        warm_up_ns: phase.warm_up.map_or(0, |length| length.0.unsigned_abs()),
        check_one_in: phase.check_one_in.map_or(1, |one_in| one_in.0.into()),
        labels: phase.labels.clone(),
        empty: phase.empty,
        settled: phase.settled.as_ref().map(|name| name.value.clone()),
        processes: phase.processes.map(|processes| processes.0),
        ..PhasePart::default()
    }
}

impl Reader<'_, '_> {
    /// The load of all tables.
    fn load(&mut self, load: Option<&Load>, part: &mut PhasePart) -> Result<(), FileError> {
        for (table, one) in self.tables.iter().enumerate() {
            self.written[table].some = true;
            if one.series.entity.is_some() {
                let message = "series with an entity are written in [[phases]]: write them, with [[writers]]";
                return Err(self.source.error(&(0..0), message));
            }
            part.writers.push(WritersPart {
                name: self.usual_name(LOAD, table),
                table,
                clients: load.map_or(1, |load| clients(load.clients)),
                batch: self.batch(load.and_then(|load| load.batch.as_ref()), table, 0)?,
                load_ns: Some(one.series.duration_ns),
                ..WritersPart::default()
            });
        }
        Ok(())
    }

    /// The table's name tells groups of writers apart where there are several tables.
    fn usual_name(&self, what: &str, table: usize) -> String {
        match self.tables {
            [_] => what.to_owned(),
            tables => format!("{what} {}", tables[table].series.table),
        }
    }

    fn writers(&mut self, one: &At<Writers>, phase: &PhasePart) -> Result<WritersPart, FileError> {
        let all = one.table.as_ref().is_some_and(|table| table.value == ALL);
        let table = if all { self.alike(one)? } else { self.table(one.table.as_ref(), one)? };
        if phase.writers.iter().any(|other| other.table == table || all || other.all) {
            let message = "two groups write the same table in one phase: give one of them more clients";
            return Err(self.source.error(one, message));
        }
        if let Some(before) = &self.written[table].unknown {
            let message = format!(
                "phase {before} wrote this table as fast as it could, so that nobody knows where to go on: give its writers a rate"
            );
            return Err(self.source.error(one, message));
        }
        let series = &self.tables[table].series;
        if let Some(load) = one.load.as_ref().filter(|load| load.0 < series.interval_ns) {
            let message = format!("load is shorter than an interval, {}", length_text(series.interval_ns));
            return Err(self.source.error(load, message));
        }
        let whole_ns = (phase.duration_ns.is_none() && one.readings.is_none()).then_some(series.duration_ns);
        let load_ns = one.load.as_ref().map(|load| load.0).or(whole_ns);
        let order = self.order(one, table)?;
        let usual = if load_ns.is_some() { LOAD } else { WRITERS };
        let name = match &one.name {
            Some(name) => self.own_name(name)?,
            None if all => usual.to_owned(),
            None => self.usual_name(usual, table),
        };
        let is_known = load_ns.is_some() || one.readings.is_some();
        let messages = one.messages.as_ref().is_some_and(|messages| messages.value);
        let otherwise = if is_known { u64::from(messages) } else { TURNS };
        if let (Some(advised), Some(batch)) = (&one.advised, &one.batch) {
            let why = "both say how many readings are in a write: give one of them";
            return Err(self.source.disagree(("advised", advised), ("batch", batch), why));
        }
        let part = WritersPart {
            name,
            table,
            all,
            advised: one.advised.as_ref().map(|advised| advised.value),
            clients: clients(one.clients),
            batch: self.batch(one.batch.as_ref(), table, otherwise)?,
            rate: self.rate(one.rate.as_ref())?,
            load_ns,
            readings: one.readings.as_ref().map(|readings| readings.0.into()),
            messages,
            order,
            atomic: one.atomic.as_ref().is_some_and(|atomic| atomic.value),
        };
        for (_, written) in self.written.iter_mut().enumerate().filter(|(table, _)| part.is_of(*table)) {
            written.some = true;
            written.is_bulk = part.is_bulk(series);
            if !is_known && one.rate.is_none() {
                written.unknown = Some(phase.name.clone());
            }
        }
        Ok(part)
    }

    /// The first table, where a group can write all of them side by side.
    fn alike(&self, one: &At<Writers>) -> Result<usize, FileError> {
        let [series, others @ ..] = self.tables else { return Ok(0) };
        let form = |table: &TablePart| (table.series.count, table.series.interval_ns, table.series.entity);
        let wrong = if others.iter().any(|other| form(other) != form(series)) || form(series).2.is_some() {
            "writers of all tables need series that are as many in each, at one interval, without entities"
        } else if one.together.is_some() {
            "writers of all tables write in the order of time: leave together and block out"
        } else {
            return Ok(0);
        };
        Err(self.source.error(one, wrong))
    }

    /// What says how much is written, and in which order: all writers of a table keep to one, because each goes on where the one before ended.
    fn order(&mut self, one: &At<Writers>, table: usize) -> Result<Option<(u32, u64)>, FileError> {
        let series = &self.tables[table].series;
        let are_sent = one.readings.is_some() && series.generator == Some(Generator::Homes);
        let messages = one.messages.as_ref().filter(|messages| messages.value);
        if let Some(messages) = messages.filter(|_| !are_sent) {
            let message = "messages are of homes, and as many as readings says: write readings";
            return Err(self.source.error(messages, message));
        }
        if let (Some(readings), Some(load)) = (&one.readings, &one.load) {
            let why = "both say how much is written: give one of them";
            return Err(self.source.disagree(("readings", readings), ("load", load), why));
        }
        if let Some(atomic) = one.atomic.as_ref().filter(|_| series.entity.is_none()) {
            return Err(self.source.error(atomic, "atomic is for series with an entity"));
        }
        // A series is written by one client, so that its entity is updated in the order of time.
        let clients = if series.entity.is_some() { clients(one.clients) } else { 1 };
        let together = one.together.as_ref().map_or(series.count, |together| together.0);
        if !series.count.is_multiple_of(together) || !together.is_multiple_of(clients) {
            let clients = match clients {
                1 => String::new(),
                several => format!(" and be a multiple of {several} clients, which stay with their series"),
            };
            let message = format!("together is {together}; it must divide {} series{clients}", series.count);
            return Err(match &one.together {
                Some(together) => self.source.error(together, message),
                None => self.source.error(one, message),
            });
        }
        let order = match (&one.together, &one.block) {
            // They are counted otherwise than hours, and so do not go on after those.
            (None, None) if messages.is_some() => Some((1, 1)),
            (None, None) => None,
            (Some(_), Some(block)) => Some((together, block.0.into())),
            (None, Some(_)) => return Err(self.source.missing(one, "together", "1")),
            (Some(_), None) => return Err(self.source.missing(one, "block", "1000")),
        };
        if *self.written[table].order.get_or_insert(order) != order {
            let message = "writers before these sent the readings of this table in another order: take the same together and block, or begin the phase with empty = true";
            return Err(self.source.error(one, message));
        }
        Ok(order)
    }

    fn table(&self, name: Option<&Text>, of: &dyn Placed) -> Result<usize, FileError> {
        let known: Vec<String> = self.tables.iter().map(|table| table.series.table.clone()).collect();
        number(self.source, "table", &known, name, of)
    }

    /// How many turns an operation writes. A batch so small that it would often be empty is refused.
    fn batch(&self, batch: Option<&At<Batch>>, table: usize, otherwise: u64) -> Result<u64, FileError> {
        let Some(batch) = batch else {
            return Ok(otherwise);
        };
        let series = &self.tables[table].series;
        let absent = series.missing + series.late;
        if absent > 0.0 && absent.powf(batch.0.into()) > 1e-6 {
            let message = format!(
                "with {:.1} % of the readings missing or late, batches of {} would often be empty; write more at once, or nothing missing and late",
                absent * 100.0,
                batch.0
            );
            return Err(self.source.error(batch, message));
        }
        Ok(batch.0.into())
    }

    /// A rate; none where it is not said.
    fn rate(&self, rate: Option<&At<f64>>) -> Result<Option<f64>, FileError> {
        let message = "rate is how many a second, 0.001 to a thousand million; without it, clients go as fast as they can";
        match rate {
            Some(rate) if !(0.001..=1e9).contains(&rate.value) => Err(self.source.error(rate, message)),
            rate => Ok(rate.map(|rate| rate.value)),
        }
    }

    /// A name that results and limits have.
    fn own_name(&mut self, name: &Text) -> Result<String, FileError> {
        let text = &name.value;
        if [LOAD, WRITERS, ""].contains(&text.as_str()) || text.contains(" of ") {
            let message = format!("{text:?} cannot be a name of queries or writers; take another");
            return Err(self.source.error(name, message));
        }
        self.names.take(self.source, name, str::to_owned)?;
        Ok(text.clone())
    }

    fn query(&mut self, one: &At<Query>) -> Result<QueryPart, FileError> {
        let query = &one.value;
        let name = self.own_name(&query.name)?;
        let number = self.table(query.table.as_ref(), one)?;
        if !self.written[number].some {
            let message = "nothing is in this table yet: write it in this phase or in one before";
            return Err(self.source.error(one, message));
        }
        if self.written[number].is_bulk {
            let message = "the last readings of these series come after all others, each with its entity: ask after writers of batch = 1";
            return Err(self.source.error(one, message));
        }
        let asked = Asked { source: self.source, table: &self.tables[number], query: one, day: self.day };
        let (span_ns, window_ns) = asked.lengths()?;
        let (above, below) = asked.thresholds()?;
        let rollups = self.life.iter().flat_map(|life| &life.rollups);
        if let (QueryKind::Rollup, Some(window)) = (query.kind.value, &query.window)
            && !rollups.into_iter().any(|rollup| Some(rollup.every_ns) == window_ns)
        {
            let message = "there is no rollup of this width: write [[rollups]] with every = the window";
            return Err(self.source.error(window, message));
        }
        let part = QueryPart {
            name,
            table: number,
            kind: query.kind.value,
            drawn: asked.drawn(),
            fields: asked.fields()?,
            of: asked.of()?,
            by: asked.by()?,
            by_day: query.by_day,
            from_sums: query.sums,
            span_ns,
            step_ns: query.step.as_ref().map(|step| step.0),
            after: query.after.as_ref().map(|after| after.0.into()),
            window_ns,
            when: query.when.unwrap_or(WhenPart::Anywhere),
            above,
            below,
            clients: clients(query.clients),
            rate: self.rate(query.rate.as_ref())?,
            count: query.count.map(|count| count.0.into()),
            file: query.file.as_ref().map(|file| file.value.clone()),
        };
        let is_statistics = matches!(part.of, OfPart::Tag(_)) && part.by == ByPart::Series;
        let several = part.drawn.unwrap_or(part.fields.len()) > 1;
        if several && part.kind.is_aggregate() && !(is_statistics && part.window_ns.is_none()) {
            let message = "several fields are for the series of a tag, by = \"series\" and without a window";
            return Err(self.source.error(&query.kind, message));
        }
        Ok(part)
    }
}

/// Clients of anything; one where it is not said.
fn clients(clients: Option<Whole<10_000>>) -> u32 {
    clients.map_or(1, |clients| clients.0)
}
