-- DuckDB. What is not here is in standard.sql.

-- Sums of whole numbers have 128 bits.
-- macro: sum(value, kind)
sum({{ value }}){% if kind != "f64" %}::BIGINT{% endif %}
-- macro: mean_of_sums(field)
sum(r.{{ sums_column(field, "sum") }})::DOUBLE / nullif(sum(r.{{ sums_column(field, "count") }}), 0)::DOUBLE
-- macro: comparable(field)
{% if field.kind == "f64" %}{{ value(field) }}{% else %}({{ value(field) }})::DOUBLE{% endif %}
-- As a subquery, the set is joined by hash, and its smallest and largest key skip groups of rows.
-- macro: in_set()
({{ key_names("r.") }}) IN (SELECT {% for key in keys %}unnest(:set{% if keys | length > 1 %}_{{ key.bare }}{% endif %}::{{ key.type }}[]){% if not loop.last %}, {% endif %}{% endfor %})
-- The part of the day is printed: the planner sees how much of it that is.
-- macro: is_day(time)
({{ time }} % 86400000000000 >= {{ day_start }} AND {{ time }} % 86400000000000 < {{ day_end }})
-- The latest reading of one series bounds its scan while it goes; with more series, one pass over all columns is cheaper. On 7.2 million readings of 100 series
-- the time of 10 is a third of a pass over all, and that of 50 is twice as much.
-- macro: one_by_one()
{% if of in ["set", "all"] and keys and named <= 20 %}yes{% endif %}
-- Rows without the value do not count.
-- macro: last_value(value, time)
arg_max({{ value }}, {{ time }})
-- macro: most_frequent(value)
mode() WITHIN GROUP (ORDER BY {{ value }})
-- macro: share(value, held)
coalesce(sum({{ held }}) FILTER (WHERE {{ value }}), 0)::DOUBLE / (sum({{ held }}) FILTER (WHERE {{ value }} IS NOT NULL))::DOUBLE
-- statement: statistics
{% if functions | selectattr("name", "eq", "time_weighted_share") | list %}{{ statistics_in_one() }}
{% else %}{{ grouped(groups() ~ aggregates(), chosen_readings()) }}{% endif %}
-- Where a field is the same all the time, it is not a number.
-- statement: correlation
{{ grouped("nullif(corr(" ~ comparable(inputs[0]) ~ ", " ~ comparable(inputs[1]) ~ "), 'NaN')", inputs_of(selected())) }}

-- Columns that an appender takes: not a statement, but a call of the library.
-- macro: appended()
duckdb_append_data_chunk: {{ table }} ({{ columns() }})
-- statement: write_many -> appender
{{ appended() }}
-- statement: fill_tags -> appender
{{ super() }}

-- layout: individual
-- | a row a reading: series, time BIGINT (ns), a column a field; no index, the smallest and largest values of row groups skip them
-- family: reading
-- measured: usual
-- kept: index = "none"

-- layout: individual-series-index < individual
-- | the same with an index (ART) on the series, which serves a series of under a thousandth of the rows
-- measured: on request
-- needs: tags
-- kept: index = "series"
-- statement: index
{% if keys %}CREATE INDEX "{{ bare_table }} by series" ON {{ table }} ({{ key_names() }}){% endif %}

-- layout: individual-timestamp-ns < individual
-- | the same with time TIMESTAMP_NS
-- measured: on request
-- kept: time = "native"
-- Its functions for windows round to microseconds, so this is arithmetic on nanoseconds.
-- macro: ns()
epoch_ns({{ at() }})
-- macro: end_ns()
:end_ns

-- layout: individual-row-per-field < individual
-- | a row a value: series, time, field SMALLINT, a column of values for each type
-- measured: on request
-- kept: shape = "row_per_field"
-- rows: fields
-- macro: value_column(kind)
{% if fields | map(attribute="kind") | unique | list | length == 1 %}{{ own("value") }}{% else %}{{ own("value_" ~ types[kind] | lower) }}{% endif %}
-- macro: value_columns(some)
{% for kind in some | map(attribute="kind") | unique %}, r.{{ value_column(kind) }}{% endfor %}
-- macro: field_number()
r.{{ own("field") }}
-- macro: of_fields()
{{ field_number() }} IN ({{ chosen | map(attribute="number") | join(", ") }})
-- macro: some()
{% if chosen | length < fields | length %}{{ of_fields() }}{% endif %}
-- macro: in_range()
{{ of_fields() }} AND {{ in_time() }}
-- macro: value(field)
{% if chosen | length == 1 %}r.{{ value_column(field.kind) }}{% else %}CASE WHEN {{ field_number() }} = {{ field.number }} THEN r.{{ value_column(field.kind) }} END{% endif %}
-- A reading without any field has a row without a value.
-- macro: any_present()
{% if fields | selectattr("nullable") | list %}({% for kind in chosen | map(attribute="kind") | unique %}{{ present("r." ~ value_column(kind)) }}{% if not loop.last %} OR {% endif %}{% endfor %}){% endif %}
-- macro: field_rows(from, conditions)
SELECT {{ answer_keys() }}{{ at() }}, {{ field_number() }}{{ value_columns(chosen) }} FROM {{ from }} {{ where(conditions) }}
ORDER BY {{ answer_keys() }}{{ at() }}, {{ field_number() }}
-- macro: latest_fields(condition)
{{ field_rows(source(), [condition, at() ~ " = (SELECT max(" ~ at() ~ ") FROM " ~ source() ~ " " ~ where([in_range(), condition, any_present()]) ~ ")", some(), any_present()]) }}
-- statement: point -> typed field rows
{{ field_rows(source(), [selected(), at_time(), some(), any_present()]) }}
-- statement: range -> typed field rows
{{ field_rows(source(), [selected(), in_time(), some(), any_present()]) }}
-- statement: latest -> typed field rows
{% if one_by_one() %}{% for number in range(named) %}({{ latest_fields(nth(number)) }}){% if not loop.last %} UNION ALL {% endif %}{% endfor %}
{% elif of == "one" or not keys %}{{ latest_fields(selected()) }}
{% else %}{{ field_rows(at_latest(), [some(), any_present()]) }}
{% endif %}
-- Fields of one reading are rows: the client puts them together.
-- statement: rows_by_value
-- statement: correlation
-- statement: cross_mean
-- statement: nearest
-- statement: scan -> typed field rows
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}{{ at() }}, {{ field_number() }}{{ value_columns(fields) }} FROM {{ source() }}
-- macro: definitions()
{{ series_definitions() }}{{ time }} {{ time_type }} NOT NULL, {{ own("field") }} SMALLINT NOT NULL
{% set kinds = fields | map(attribute="kind") | unique | list %}
{% for kind in kinds %}, {{ value_column(kind) }} {{ types[kind] }}{% if kinds | length == 1 and not fields | selectattr("nullable") | list %} NOT NULL{% endif %}{% endfor %}
-- macro: columns()
{{ series_columns() }}{{ time }}, {{ own("field") }}{{ value_columns(fields) | replace(", r.", ", ") }}
-- macro: slots()
{{ series_slots() }}:time, :field{% for kind in fields | map(attribute="kind") | unique %}, :value_{{ kind }}{% endfor %}
-- statement: insert -> appender
{{ appended() }}
-- statement: write_many

-- layout: individual-multi-row < individual
-- | the usual table, written by INSERT … VALUES (…), (…), … of up to 250 rows
-- measured: on request
-- kept: write = "multi_row"
-- rows in a statement: 250
-- statement: write_many

-- layout: individual-tags-inline < individual
-- | the usual layout with every tag in every row, which DuckDB keeps as a dictionary
-- measured: on request
-- tags: inline

-- layout: individual-tags-in-table < individual
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table

-- layout: bulk
-- | a row a span: series, span, size, ns INTEGER[], a list a field; no index
-- family: span
-- measured: usual
-- kept: encoding = "arrays", index = "none"
-- rows: records
-- macro: source()
{{ table }} r CROSS JOIN LATERAL (SELECT unnest(r.{{ own("ns") }}) AS ns{% for field in chosen %}, unnest(r.{{ field }}) AS f{{ field.number }}{% endfor %}) AS e
-- macro: at()
(r.{{ span() }} * {{ span_ns }} + e.ns)
-- macro: value(field)
e.f{{ field.number }}
-- macro: in_range()
{{ in_spans() }} AND {{ in_time() }}
-- macro: order_time(direction)
r.{{ span() }}{{ direction }}, {{ at() }}{{ direction }}
-- statement: point
SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} ORDER BY {{ answer_keys() }}{{ at() }}
-- Whole records are answered, and the client takes readings out of them.
-- statement: range -> columns
SELECT {{ answer_keys() }}r.{{ span() }}, {{ arrays(chosen, "r.") }} FROM {{ table }} r {{ where([selected(), in_spans()]) }} ORDER BY {{ answer_keys() }}r.{{ span() }}
-- Times alone are asked for, then the reading of each (`point`).
-- statement: latest
-- statement: latest_times -> times
{{ latest_at() }}
-- statement: scan -> columns
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ span() }}, {{ arrays(fields, "r.") }} FROM {{ table }} r
-- macro: arrays(fields, row)
{{ row }}{{ own("ns") }}{% for field in fields %}, {{ row }}{{ field }}{% endfor %}
-- macro: definitions()
{{ series_definitions() }}{{ span() }} BIGINT NOT NULL, {{ own("size") }} INTEGER NOT NULL, {{ own("ns") }} {{ "INTEGER" if span_ns < 2147483648 else "BIGINT" }}[] NOT NULL
{% for field in fields %}, {{ field }} {{ field.array }} NOT NULL{% endfor %}
-- macro: columns()
{{ series_columns() }}{{ span() }}, {{ own("size") }}, {{ arrays(fields, "") }}
-- macro: slots()
{{ series_slots() }}:span, :size, :nanoseconds{% for field in fields %}, :field_{{ field.number }}{% endfor %}
-- statement: insert -> appender
{{ appended() }}
-- statement: write_many

-- layout: bulk-tags-inline < bulk
-- | the usual layout with every tag in every row, which DuckDB keeps as a dictionary
-- measured: on request
-- tags: inline

-- layout: bulk-tags-in-table < bulk
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table

-- layout: summary < individual
-- | a row a reading, no index; in the same transaction count, sum, min, max of each field by series, period, day or night, PRIMARY KEY on these
-- family: sums
-- measured: usual
-- statement: insert -> appender
{{ appended() }}
-- statement: write_many
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{{ create_sums() }}
-- Run in the transaction of the readings. Each column is a list over the periods that they touch; the client has added them up.
-- statement: add_sums -> arrays
INSERT INTO {{ sums_table }} ({{ series_columns() }}{{ period() }}, {{ day() }}{{ sums_columns() }})
SELECT {% for one in tags or keys %}unnest({{ one.slot }}::{{ one.type }}[]), {% endfor %}unnest(:period::BIGINT[]), unnest(:day::BOOLEAN[])
{% for field in numeric %}, unnest(:count_{{ field.number }}::BIGINT[]){% for part in ["sum", "min", "max"] %}, unnest(:{{ part }}_{{ field.number }}::{{ field.sum_type }}[]){% endfor %}{% endfor %}
ON CONFLICT ({{ sums_key() }}) DO {% if numeric %}UPDATE SET {{ merge_sums() }}{% else %}NOTHING{% endif %}

-- layout: summary-tags-inline < summary
-- | the usual layout with every tag in every row, which DuckDB keeps as a dictionary
-- measured: on request
-- tags: inline

-- layout: summary-tags-in-table < summary
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table
