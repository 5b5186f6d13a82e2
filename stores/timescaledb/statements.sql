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
