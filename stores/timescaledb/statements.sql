-- TimescaleDB: PostgreSQL with hypertables. What is not here is PostgreSQL's.

-- Chunks of a day, as for readings of months.
-- macro: hypertable()
SELECT create_hypertable('{{ table }}', by_range('{{ time | replace(q, "") }}', {{ 86400000000 if time_type == "timestamptz" else 86400000000000 }}), create_default_indexes => false)
-- macro: window(time)
time_bucket(:width::int8, {{ time }}, :origin::int8)
-- macro: last_value(value, time)
last({{ value }}, {{ time }}) FILTER (WHERE {{ value }} IS NOT NULL)

-- layout: individual
-- | hypertable, a chunk a day, row a reading, btree on (series, time)
-- statement: create
{{ super() }};
{{ hypertable() }}

-- layout: individual-compressed < individual
-- | hypertable whose chunks are compressed when it settles: columns by series, the latest reading first (community edition)
-- measured: on request
-- kept: shape = "native_time_series"
-- statement: create
{{ super() }};
ALTER TABLE {{ table }} SET (timescaledb.compress{% if keys %}, timescaledb.compress_segmentby = '{{ key_names() }}'{% endif %})
-- statement: settle
SELECT compress_chunk(chunk, true) FROM show_chunks('{{ table }}') chunk

-- The view adds what came since it was refreshed; what came late is in it after the next time.
-- layout: summary-continuous < individual
-- | hypertable, and a continuous aggregate of its sums by series, period and part of the day, refreshed when it settles (community edition)
-- family: sums
-- measured: on request
-- kept: write = "fast_path"
-- macro: sums_column(field, part)
{{ own(field.bare ~ "." ~ part) }}
-- macro: period()
{{ own(".period") }}
-- macro: day()
{{ own(".day") }}
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{% if numeric %}
CREATE OR REPLACE FUNCTION sensormark_now() RETURNS int8 LANGUAGE sql STABLE AS 'SELECT (extract(epoch FROM now()) * 1000000000)::int8';
SELECT set_integer_now_func('{{ table }}', 'sensormark_now', true);
CREATE MATERIALIZED VIEW {{ sums_table }} WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
SELECT {{ series_columns() }}time_bucket({{ per_ns }}::int8, {{ time }}) AS {{ period() }}, {{ is_day(time) }} AS {{ day() }}
{% for field in numeric %}, count({{ field }}) AS {{ sums_column(field, "count") }}, sum({{ field }})::{{ field.sum_type }} AS {{ sums_column(field, "sum") }}{% endfor %}
FROM {{ table }} GROUP BY {{ range(1, keys | length + 3) | join(", ") }} WITH NO DATA
{% endif %}
-- statement: settle
{% if numeric %}CALL refresh_continuous_aggregate('{{ sums_table }}', NULL, NULL){% endif %}
