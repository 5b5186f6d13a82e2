-- PostgreSQL. What is not here is in standard.sql.

-- macro: mean(value, kind)
avg({{ value }})::float8
-- macro: sum(value, kind)
sum({{ value }}){% if kind == "i64" %}::int8{% endif %}
-- macro: deviation(value)
stddev_samp(({{ value }})::float8)
-- macro: mean_of_sums(field)
(sum(r.{{ sums_column(field, "sum") }}) / nullif(sum(r.{{ sums_column(field, "count") }}), 0)::{{ "float8" if field.kind == "f64" else "numeric" }})::float8
-- macro: comparable(field)
{% if field.kind == "f64" %}{{ value(field) }}{% elif field.kind == "bool" %}({{ value(field) }})::int4::float8{% else %}({{ value(field) }})::float8{% endif %}
-- macro: arrays(set)
{% for key in keys %}:{{ set }}{% if keys | length > 1 %}_{{ key.bare }}{% endif %}{% if not loop.last %}, {% endif %}{% endfor %}
-- macro: in_set()
{% if keys | length == 1 %}r.{{ keys[0] }} = ANY({{ arrays("set") }})
{% else %}({{ key_names("r.") }}) IN (SELECT * FROM unnest({{ arrays("set") }})){% endif %}
-- As an array, the question for the series runs once, before the rest is planned.
-- macro: tagged()
r.{{ keys[0] }} = ANY(ARRAY(SELECT {{ keys[0] }} FROM {{ tags_table }} WHERE {{ tag }} = :tag))
-- The part of the day is printed: the planner sees how much of it that is.
-- macro: is_day(time)
({{ time }} % 86400000000000::int8 >= {{ day_start }}::int8 AND {{ time }} % 86400000000000::int8 < {{ day_end }}::int8)
-- macro: last_value(value, time)
(array_agg({{ value }} ORDER BY {{ time }} DESC) FILTER (WHERE {{ value }} IS NOT NULL))[1]
-- macro: most_frequent(value)
mode() WITHIN GROUP (ORDER BY {{ value }})
-- macro: share(value, held)
coalesce(sum({{ held }}) FILTER (WHERE {{ value }}), 0)::float8 / (sum({{ held }}) FILTER (WHERE {{ value }} IS NOT NULL))::float8

-- Series by series, so that each is one look into the index.
-- macro: each_series()
{% if of == "one" %}(SELECT {% for key in keys %}{{ key.slot }}::{{ key.type }} AS {{ key }}{% if not loop.last %}, {% endif %}{% endfor %}) s
{% elif of == "tagged" and tags_table %}(SELECT DISTINCT {{ key_names() }} FROM {{ tags_table }} WHERE {{ tag }} = :tag) s
{% elif of == "tagged" and keys | length == 1 and keys[0].number == tag.number %}(SELECT :tag::{{ tag.type }} AS {{ tag }}) s
{% elif of == "tagged" %}(SELECT DISTINCT {{ key_names() }} FROM {{ table }} WHERE {{ tag }} = :tag) s
{% elif tags_table %}{{ tags_table }} s
{% else %}unnest({{ arrays("all") }}) AS s({{ key_names() }})
{% endif %}
-- macro: latest_of_one()
SELECT {{ ns() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), same_series(), any_present()]) }} ORDER BY {{ at() }} DESC LIMIT 1
-- statement: latest
{% if keys %}
SELECT {% if of != "one" %}{{ key_names("s.") }}, {% endif %}l.* FROM {{ each_series() }} CROSS JOIN LATERAL ({{ latest_of_one() }}) l
{% else %}
{{ latest_of_one() }}
{% endif %}
-- statement: matching
{% if keys %}
SELECT {{ key_names("s.") }} FROM {{ each_series() }}
WHERE EXISTS (SELECT 1 FROM {{ source() }} {{ where([in_range(), passes(), same_series()]) }})
{% else %}
{{ super() }}
{% endif %}
-- statement: statistics
{{ statistics_in_one() }}

-- What may read much is planned for its range; what an index leads to is planned once. Sent before a statement, where the session has it otherwise.
-- statement: before
SET plan_cache_mode =
{% if statement == "matching" or statement in ["range", "rows_by_value"] and of != "one" and keys or statement in ["aggregate", "sums", "statistics"] and (of != "one" or not keys or windows) %}force_custom_plan
{% else %}auto
{% endif %}

-- statement: index
CREATE INDEX ON {{ table }} ({{ index_columns() }})
-- statement: index_tags
{% for tag in all_tags %}CREATE INDEX ON {{ tags_table }} ({{ tag }}); {% endfor %}
-- statement: fill_tags -> arrays
INSERT INTO {{ tags_table }} ({{ keys[0] }}{% for tag in all_tags %}, {{ tag }}{% endfor %}) SELECT * FROM unnest({{ keys[0].slot }}::{{ keys[0].type }}[]{% for tag in all_tags %}, {{ tag.slot }}::{{ tag.type }}[]{% endfor %})
-- macro: only_entity()
{{ own(".one") }}
-- statement: create_entities
{{ super() | replace(types.u16 ~ " DEFAULT 1 NOT NULL", "bool DEFAULT true") }}
-- statement: write_many -> copy
COPY {{ table }} ({{ columns() }}) FROM STDIN (FORMAT binary)
-- macro: part(number, text)
part{{ number }} AS ({{ text }})
-- macro: insert_reading()
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ slots() }})
-- macro: reading_parts()
{{ part(0, insert_reading()) }}
-- The entity and its reading in one statement: both or neither, in one trip.
-- statement: upsert_reading
WITH {{ reading_parts() }} {{ insert_entity() }} ON CONFLICT ({{ entity_key() }}) DO UPDATE SET {{ entity.last }} = excluded.{{ entity.last }}

-- layout: individual
-- | row a reading, btree on (series, time); prepared INSERT for one, binary COPY for many
-- family: reading
-- measured: usual

-- layout: individual-row-per-field < individual
-- | row a field of a reading (series, time, field, value), btree on (series, time)
-- needs: several fields of one type
-- measured: always with few fields
-- kept: shape = "row_per_field"
-- rows: fields
-- fields in a statement: 64
-- statement: upsert_reading
-- macro: field_number()
r.{{ own("field") }}
-- macro: field_value()
r.{{ own("value") }}
-- macro: of_fields()
{{ field_number() }} IN ({{ chosen | map(attribute="number") | join(", ") }})
-- macro: in_range()
{{ of_fields() }} AND {{ in_time() }}
-- macro: value(field)
{% if chosen | length == 1 %}{{ field_value() }}{% else %}CASE WHEN {{ field_number() }} = {{ field.number }} THEN {{ field_value() }} END{% endif %}
-- A reading without any field has a row without a value.
-- macro: any_present()
{% if fields | selectattr("nullable") | list %}{{ field_value() }} IS NOT NULL{% endif %}
-- macro: some()
{% if chosen | length < fields | length %}{{ of_fields() }}{% endif %}
-- macro: field_rows(conditions)
SELECT {{ answer_keys() }}r.{{ time }}, {{ field_number() }}, {{ field_value() }} FROM {{ table }} r {{ where(conditions) }} ORDER BY {{ answer_keys() }}r.{{ time }}, {{ field_number() }}
-- statement: point -> field rows
{{ field_rows([selected(), at_time(), some(), any_present()]) }}
-- statement: range -> field rows
{{ field_rows([selected(), in_time(), some(), any_present()]) }}
-- statement: latest -> field rows
SELECT {{ answer_keys() }}r.{{ time }}, {{ field_number() }}, {{ field_value() }} FROM {% if keys %}{{ each_series() }} CROSS JOIN LATERAL {% endif %}(SELECT r.{{ time }} AS t
FROM {{ table }} r
{{ where([in_time(), of_fields(), same_series(), any_present()]) }} ORDER BY r.{{ time }} DESC LIMIT 1) l
JOIN {{ table }} r ON {% if keys %}{{ same_series() }} AND {% endif %}r.{{ time }} = l.t {{ where([of_fields(), any_present()]) }}
ORDER BY {{ answer_keys() }}r.{{ time }}, {{ field_number() }}
-- Fields of one reading are rows: the client puts them together.
-- statement: rows_by_value
-- statement: correlation
-- statement: cross_mean
-- statement: nearest
-- statement: scan -> field rows
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ time }}, {{ field_number() }}, {{ field_value() }} FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}{{ time }} {{ time_type }} NOT NULL, {{ own("field") }} int2 NOT NULL, {{ own("value") }} {{ fields[0].type }}{% if not fields | selectattr("nullable") | list %} NOT NULL{% endif %}
-- macro: columns()
{{ series_columns() }}{{ time }}, {{ own("field") }}, {{ own("value") }}
-- macro: slots()
{{ series_slots() }}:time, :field, :value

-- layout: individual-no-index < individual
-- | row a reading, no index
-- measured: on request
-- kept: index = "none"
-- statement: index

-- layout: individual-series-index < individual
-- | row a reading, btree on the series alone
-- measured: on request
-- needs: tags
-- kept: index = "series"
-- macro: index_columns()
{{ key_names() }}

-- layout: individual-tags-inline < individual
-- | row a reading with its tags in it
-- measured: on request
-- tags: inline

-- layout: individual-tags-in-table < individual
-- | row a reading with the series' number; tags in a table of their own
-- measured: on request
-- tags: in a table

-- layout: individual-foreign-key < individual-series-index
-- | row a reading, btree on the series alone, and a foreign key: a reading without its entity is refused
-- measured: on request
-- needs: entities
-- kept: foreign_key = true
-- macro: primary_key()
{% if entity %}, FOREIGN KEY ({{ entity_key() }}) REFERENCES {{ entity.table }} ({{ entity_key() }}){% endif %}

-- layout: individual-timestamptz < individual
-- | row a reading keyed by timestamptz (whole microseconds)
-- measured: on request
-- needs: whole microseconds
-- kept: time = "native"
-- macro: ns()
((extract(epoch FROM {{ at() }}) * 1000000)::int8 * 1000)
-- macro: end_ns()
:end_ns

-- layout: individual-concatenated < individual
-- | row a reading; a batch is one string of INSERT statements
-- measured: on request
-- kept: write = "concatenated_statements"
-- statements in a request: 10000
-- statement: write_many

-- layout: individual-multi-row < individual
-- | row a reading; a batch is one INSERT of many rows, 65,535 values at most
-- measured: on request
-- kept: write = "multi_row"
-- rows in a statement: 65535
-- statement: write_many

-- layout: individual-copy < individual
-- | row a reading; every write is a binary COPY
-- measured: on request
-- kept: write = "fast_path"
-- statement: insert -> copy
COPY {{ table }} ({{ columns() }}) FROM STDIN (FORMAT binary)

-- layout: bulk
-- | row a span of a series, its readings in a jsonb document
-- family: span
-- measured: usual
-- kept: encoding = "binary_json"
-- rows: records
-- macro: document()
{{ own("readings") }}
-- macro: offset_type()
{{ "int4" if span_ns < 2147483648 else "int8" }}
-- macro: elements()
jsonb_array_elements(r.{{ document() }} -> 'measurements') AS e(v)
-- macro: nanosecond()
(e.v -> 'ns')::{{ offset_type() }}
-- macro: value(field)
(e.v -> 'm' {{ "->>" if field.nullable or field.kind == "text" else "->" }} {{ field.number }})::{{ field.type }}
-- macro: source()
{{ table }} r CROSS JOIN LATERAL {{ elements() }}
-- macro: span_at()
r.{{ span() }} * {{ span_ns }}::int8 + {{ nanosecond() }}
-- macro: at()
({{ span_at() }})
-- macro: in_range()
{{ in_spans() }} AND {{ in_time() }}
-- Whole records are answered, and the client takes readings out of them.
-- statement: range -> {{ "json records" if chosen | length == fields | length else "json columns" }}
SELECT {{ answer_keys() }}r.{{ span() }},
{% if chosen | length == fields | length %}r.{{ document() }}
{% else %}jsonb_path_query_array(r.{{ document() }}, '$.measurements[*].ns')
{% for field in chosen %}, jsonb_path_query_array(r.{{ document() }}, '$.measurements[*].m[{{ field.number }}]'){% endfor %}
{% endif %}
FROM {{ table }} r {{ where([selected(), in_spans()]) }} ORDER BY {{ answer_keys() }}r.{{ span() }}
-- statement: point
SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} ORDER BY {{ answer_keys() }}{{ at() }}
-- The first of each record, and of these the first: records are read until one has it.
-- macro: first_of_records(direction, condition, columns, names)
SELECT {{ names }}
FROM {{ table }} r CROSS JOIN LATERAL (SELECT {{ span_at() }} AS t{{ columns }}
FROM {{ elements() }}
{{ where([span_at() ~ " >= :start AND " ~ span_at() ~ " < :end", condition]) }} ORDER BY 1{{ direction }} LIMIT 1) o
-- macro: first_of_all(direction)
{{ first_of_records(direction, passes(), ", " ~ value(chosen[0]) ~ " AS f", "o.t, o.f") }}
{{ where([selected(), in_spans()]) }} ORDER BY r.{{ span() }}{{ direction }}, o.t{{ direction }}{{ after_time(direction) }} LIMIT 1
-- statement: first
{{ first_of_all("") }}
-- statement: last
{{ first_of_all(" DESC") }}
-- macro: named(fields)
{% for field in fields %}, {{ value(field) }} AS f{{ field.number }}{% endfor %}
-- macro: latest_of_one()
{{ first_of_records(" DESC", any_present(), named(chosen), "o.*") }} {{ where([same_series(), in_spans()]) }} ORDER BY r.{{ span() }} DESC, o.t DESC LIMIT 1
-- statement: upsert_reading
-- statement: scan -> json records
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ span() }}, r.{{ document() }} FROM {{ table }} r
-- macro: record_type()
jsonb
-- macro: record_definitions()
{{ document() }} {{ record_type() }} NOT NULL
-- macro: definitions()
{{ series_definitions() }}{{ span() }} int8 NOT NULL, {{ own("size") }} int4 NOT NULL, {{ record_definitions() }}
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}{{ span() }}
-- macro: record_columns()
{{ document() }}
-- macro: columns()
{{ series_columns() }}{{ span() }}, {{ own("size") }}, {{ record_columns() }}
-- macro: record_slots()
:json
-- macro: slots()
{{ series_slots() }}:span, :size, {{ record_slots() }}

-- layout: bulk-arrays < bulk
-- | row a span of a series, its readings in arrays, one a field
-- measured: always
-- kept: encoding = "arrays"
-- macro: elements()
unnest(r.{{ own("ns") }}{% for field in chosen %}, r.{{ field }}{% endfor %}) AS e(ns{% for field in chosen %}, f{{ field.number }}{% endfor %})
-- macro: nanosecond()
e.ns
-- macro: value(field)
e.f{{ field.number }}
-- statement: range -> columns
SELECT {{ answer_keys() }}r.{{ span() }}, r.{{ own("ns") }}{% for field in chosen %}, r.{{ field }}{% endfor %} FROM {{ table }} r
{{ where([selected(), in_spans()]) }} ORDER BY {{ answer_keys() }}r.{{ span() }}
-- statement: scan -> columns
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ span() }}, r.{{ own("ns") }}{% for field in fields %}, r.{{ field }}{% endfor %} FROM {{ table }} r
-- macro: record_definitions()
{{ own("ns") }} {{ offset_type() }}[] NOT NULL{% for field in fields %}, {{ field }} {{ field.array }} NOT NULL{% endfor %}
-- macro: record_columns()
{{ own("ns") }}{% for field in fields %}, {{ field }}{% endfor %}
-- macro: record_slots()
:nanoseconds{% for field in fields %}, :field_{{ field.number }}{% endfor %}

-- layout: bulk-json-text < bulk
-- | row a span of a series, its readings in a json document kept as text
-- measured: on request
-- kept: encoding = "json"
-- macro: elements()
json_array_elements(r.{{ document() }} -> 'measurements') AS e(v)
-- macro: nanosecond()
(e.v ->> 'ns')::{{ offset_type() }}
-- macro: value(field)
(e.v -> 'm' ->> {{ field.number }})::{{ field.type }}
-- statement: range -> {{ "json records" if chosen | length == fields | length else "" }}
{% if chosen | length == fields | length %}{{ super() }}
{% else %}SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} ORDER BY {{ answer_keys() }}{{ at() }}
{% endif %}
-- macro: record_type()
json

-- layout: summary < individual
-- | row a reading, and a table of sums by series, period and part of the day, upserted in the same statement
-- family: sums
-- measured: usual
-- macro: sums_column(field, part)
{{ own(field.bare ~ "." ~ part) }}
-- macro: period()
{{ own(".period") }}
-- macro: day()
{{ own(".day") }}
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{% if numeric %}{{ create_sums() }}{% endif %}
-- macro: kept(column)
s.{{ column }}
-- macro: day_of(time)
{{ time }} % 86400000000000::int8 >= {{ day_start }}::int8 AND {{ time }} % 86400000000000::int8 < {{ day_end }}::int8
-- macro: upsert()
ON CONFLICT ({{ sums_key() }}) DO UPDATE SET {{ merge_sums() }}
-- macro: into_sums()
INSERT INTO {{ sums_table }} AS s ({{ sums_key() }}{{ sums_columns() }})
-- Readings and their sums in one statement; of many readings each column is an array. In the order of the key two sessions never wait for each other in a circle.
-- statement: write_many -> arrays
WITH input AS (SELECT * FROM unnest({{ slots() }}) AS input ({{ columns() }})){% if numeric %},
stored AS ({% endif %}INSERT INTO {{ table }} ({{ columns() }}) SELECT {{ columns() }} FROM input{% if numeric %})
{{ into_sums() }}
SELECT {{ series_columns() }}{{ time }} - {{ time }} % {{ per_ns }}::int8, {{ day_of(time) }}
{% for field in numeric %}, count({{ field }}), sum({{ field }})::{{ field.sum_type }}, min({{ field }}), max({{ field }}){% endfor %}
FROM input GROUP BY {{ range(1, keys | length + 3) | join(", ") }} ORDER BY {{ range(1, keys | length + 3) | join(", ") }}
{{ upsert() }}{% endif %}
-- macro: one_into_sums()
{{ into_sums() }} VALUES ({{ series_slots() }}:time - :time % {{ per_ns }}::int8, {{ day_of(":time") }}
{% for field in numeric %}{% set value = ":field_" ~ field.number %}, ({{ value }} IS NOT NULL)::int4, {{ value }}::{{ field.sum_type }}, {{ value }}, {{ value }}{% endfor %})
{{ upsert() }}
-- statement: insert
{% if numeric %}WITH {{ part(0, insert_reading()) }} {{ one_into_sums() }}{% else %}{{ super() }}{% endif %}
-- macro: reading_parts()
{{ part(0, insert_reading()) }}{% if numeric %}, {{ part(1, one_into_sums()) }}{% endif %}

-- layout: summary-no-index < summary
-- | the same without an index on the readings
-- measured: on request
-- kept: index = "none"
-- statement: index
