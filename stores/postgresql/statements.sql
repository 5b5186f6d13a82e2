-- PostgreSQL. What is not here is in standard.sql.

-- macro: mean(value, kind)
avg({{ value }})::float8
-- macro: sum(value, kind)
sum({{ value }}){% if kind == "i64" %}::int8{% endif %}
-- macro: sum_of_counts(value)
sum({{ value }})::int8
-- macro: mean_of_sums(field)
(sum(r.{{ sums_column(field, "sum") }}) / nullif(sum(r.{{ sums_column(field, "count") }}), 0)::{{ "float8" if field.kind == "f64" else "numeric" }})::float8
-- macro: comparable(field)
{% if field.kind == "f64" %}{{ value(field) }}{% else %}({{ value(field) }})::float8{% endif %}
-- macro: in_set(key)
{% if keys | length == 1 %}r.{{ key.name }} = ANY({{ key.set }})
{% else %}({{ key_names("r.") }}) IN (SELECT * FROM unnest({{ keys | map(attribute="set") | join(", ") }}))
{% endif %}
-- macro: tagged()
r.{{ keys[0].name }} = ANY(ARRAY(SELECT {{ keys[0].name }} FROM {{ tags_table }} WHERE {{ tag.name }} = :tag))
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
{% set key = keys[0] %}
{% if of == "one" %}(SELECT {% for key in keys %}{{ key.slot }}::{{ key.type }} AS {{ key.name }}{% if not loop.last %}, {% endif %}{% endfor %}) s
{% elif of == "set" %}unnest({{ keys | map(attribute="set") | join(", ") }}) AS s({{ key_names() }})
{% elif of == "tagged" and tags_table %}(SELECT DISTINCT {{ key.name }} FROM {{ tags_table }} WHERE {{ tag.name }} = :tag) s
{% elif of == "tagged" and keys | length == 1 %}(SELECT :tag::{{ key.type }} AS {{ key.name }}) s
{% elif of == "tagged" %}(SELECT * FROM unnest({{ keys | map(attribute="all") | join(", ") }}) AS s({{ key_names() }}) WHERE s.{{ tag.name }} = :tag) s
{% elif tags_table %}{{ tags_table }} s
{% else %}unnest({{ keys | map(attribute="all") | join(", ") }}) AS s({{ key_names() }})
{% endif %}
-- macro: same_series()
{% for key in keys %}r.{{ key.name }} = s.{{ key.name }}{% if not loop.last %} AND {% endif %}{% endfor %}
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
SELECT 0 FROM {{ source() }} {{ where([in_range(), passes()]) }} LIMIT 1
{% endif %}
-- statement: statistics
{{ statistics_in_one() }}

-- What may read much is planned for its range; what an index leads to is planned once. Sent before a statement, where the session has it otherwise.
-- macro: before(statement)
SET plan_cache_mode =
{% if statement == "matching" or statement == "range" and of != "one" or statement == "aggregate" and (of != "one" or not keys or windows) %}force_custom_plan
{% else %}auto
{% endif %}

-- statement: index
CREATE INDEX ON {{ table }} ({{ index_columns() }})
-- statement: index_tags
{% for tag in all_tags %}CREATE INDEX ON {{ tags_table }} ({{ tag.name }}); {% endfor %}
-- statement: write_many -> copy
COPY {{ table }} ({{ columns() }}) FROM STDIN (FORMAT binary)

-- layout: individual
-- | row a reading, btree on (series, time); prepared INSERT for one, binary COPY for many
-- family: reading
-- measured: usual

-- layout: individual-no-index < individual
-- | row a reading, no index
-- measured: on request; always in sensor-operations
-- statement: index

-- layout: individual-series-index < individual
-- | row a reading, btree on the series alone
-- measured: on request; usual in billing
-- macro: index_columns()
{{ key_names() }}

-- layout: individual-brin < individual
-- | row a reading, BRIN on time beside the btree on (series, time): what is asked of all series over a time
-- measured: on request
-- statement: index
{{ super() }}; CREATE INDEX ON {{ table }} USING brin ({{ time }})

-- layout: individual-covering < individual
-- | row a reading, btree on (series, time) that holds the fields too
-- measured: on request
-- statement: index
{{ super() }} INCLUDE ({% for field in fields %}{{ field.name }}{% if not loop.last %}, {% endif %}{% endfor %})

-- layout: individual-tags-inline < individual
-- | row a reading with its tags in it
-- needs: several tags
-- measured: on request
-- tags: inline

-- layout: individual-tags-in-table < individual
-- | row a reading with the series' number; tags in a table of their own
-- needs: one tag
-- measured: on request
-- tags: in a table

-- layout: individual-foreign-key < individual-series-index
-- | row a reading, btree on the series alone, and a foreign key: a reading without its entity is refused
-- needs: an entity
-- measured: on request
-- macro: primary_key()
{% if entity %}, FOREIGN KEY ({{ key_names() }}) REFERENCES {{ entity.table }} ({{ key_names() }}){% endif %}

-- layout: individual-timestamptz < individual
-- | row a reading keyed by timestamptz (whole microseconds)
-- needs: whole microseconds
-- measured: on request
-- time: timestamptz 1000
-- macro: ns()
((extract(epoch FROM {{ at() }}) * 1000000)::int8 * 1000)

-- layout: individual-concatenated < individual
-- | row a reading; a batch is one string of INSERT statements
-- measured: on request
-- statement: write_many -> statements
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ slots() }})

-- layout: individual-multi-row < individual
-- | row a reading; a batch is one INSERT of many rows, 65,535 values at most
-- measured: on request
-- statement: write_many -> values
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ slots() }})

-- layout: individual-copy < individual
-- | row a reading; every write is a binary COPY
-- measured: on request
-- statement: insert -> copy
COPY {{ table }} ({{ columns() }}) FROM STDIN (FORMAT binary)

-- layout: individual-row-per-field < individual
-- | row a field of a reading (series, time, field, value), btree on (series, time)
-- needs: fields of one type
-- measured: on request; always in machine-tool
-- macro: numbers()
{{ chosen | map(attribute="number") | join(", ") }}
-- macro: of_fields()
r."field" IN ({{ numbers() }})
-- macro: in_time()
{{ at() }} >= :start AND {{ at() }} < :end
-- macro: in_range()
{{ of_fields() }} AND {{ in_time() }}
-- macro: value(field)
{% if chosen | length == 1 %}r."value"{% else %}CASE WHEN r."field" = {{ field.number }} THEN r."value" END{% endif %}
-- macro: any_present()
-- macro: some()
{% if chosen | length < fields | length %}r."field" IN ({{ numbers() }}){% endif %}
-- macro: field_rows(conditions)
SELECT {{ answer_keys() }}r.{{ time }}, r."field", r."value" FROM {{ table }} r {{ where(conditions) }} ORDER BY {{ answer_keys() }}r.{{ time }}, r."field"
-- statement: point -> field rows
{{ field_rows([one(), at_time(), some()]) }}
-- statement: range -> field rows
{{ field_rows([selected(), in_time(), some()]) }}
-- statement: latest -> field rows
SELECT {{ answer_keys() }}r.{{ time }}, r."field", r."value" FROM {% if keys %}{{ each_series() }} CROSS JOIN LATERAL {% endif %}(SELECT r.{{ time }} AS t
FROM {{ table }} r
{{ where([in_time(), of_fields(), same_series()]) }} ORDER BY r.{{ time }} DESC LIMIT 1) l
JOIN {{ table }} r ON {% if keys %}{{ same_series() }} AND {% endif %}r.{{ time }} = l.t WHERE {{ of_fields() }}
ORDER BY {{ answer_keys() }}r.{{ time }}, r."field"
-- statement: scan -> field rows
SELECT {% for key in keys %}r.{{ key.name }}, {% endfor %}r.{{ time }}, r."field", r."value" FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}{{ time }} {{ time_type }} NOT NULL, "field" int2 NOT NULL, "value" {{ fields[0].type }} NOT NULL
-- macro: columns()
{{ series_columns() }}{{ time }}, "field", "value"
-- macro: slots()
{{ series_slots() }}:time, :field, :value

-- layout: bulk
-- | row a span of a series, its readings in a jsonb document {"measurements": [{"ns": …, "m": [value, …]}, …]}
-- family: span
-- measured: usual
-- macro: elements()
jsonb_array_elements(r."readings" -> 'measurements') AS e(v)
-- macro: nanosecond()
(e.v -> 'ns')::{{ offset_type }}
-- macro: value(field)
(e.v -> 'm' {{ "->>" if field.nullable or field.kind not in ["u16", "i64", "f64"] else "->" }} {{ field.number }})::{{ field.type }}
-- macro: source()
{{ table }} r CROSS JOIN LATERAL {{ elements() }}
-- macro: span_at()
r."span" * {{ span_ns }}::int8 + {{ nanosecond() }}
-- macro: at()
({{ span_at() }})
-- macro: in_spans()
r."span" >= :first_span AND r."span" <= :last_span
-- macro: in_range()
{{ in_spans() }} AND {{ at() }} >= :start AND {{ at() }} < :end
-- Whole records are answered, and the client takes readings out of them.
-- statement: range -> {{ "json records" if chosen | length == fields | length else "json columns" }}
SELECT {{ answer_keys() }}r."span",
{% if chosen | length == fields | length %}r."readings"
{% else %}jsonb_path_query_array(r."readings", '$.measurements[*].ns')
{% for field in chosen %}, jsonb_path_query_array(r."readings", '$.measurements[*].m[{{ field.number }}]'){% endfor %}
{% endif %}
FROM {{ table }} r {{ where([selected(), in_spans()]) }} ORDER BY {{ answer_keys() }}r."span"
-- statement: point
SELECT {{ at() }}{{ values(chosen) }}
FROM {{ source() }}
{{ where(['r."span" >= :point_span AND r."span" <= :point_span', at() ~ " >= :time AND " ~ at() ~ " < :point_end", selected(), any_present()]) }}
ORDER BY {{ at() }}
-- The first of each record, and of these the first: records are read until one has it.
-- macro: first_of_records(direction, condition, columns, names)
SELECT {{ names }}
FROM {{ table }} r CROSS JOIN LATERAL (SELECT {{ span_at() }} AS t{{ columns }}
FROM {{ elements() }}
{{ where([span_at() ~ " >= :start AND " ~ span_at() ~ " < :end", condition]) }} ORDER BY 1{{ direction }} LIMIT 1) o
-- statement: first
{{ first_of_records("", passes(), ", " ~ value(chosen[0]) ~ " AS f", "o.t, o.f") }}
{{ where([selected(), in_spans()]) }} ORDER BY r."span", o.t{{ ties("") }} LIMIT 1
-- statement: last
{{ first_of_records(" DESC", passes(), ", " ~ value(chosen[0]) ~ " AS f", "o.t, o.f") }}
{{ where([selected(), in_spans()]) }} ORDER BY r."span" DESC, o.t DESC{{ ties(" DESC") }} LIMIT 1
-- macro: named(fields)
{% for field in fields %}, {{ value(field) }} AS f{{ field.number }}{% endfor %}
-- macro: latest_of_one()
{{ first_of_records(" DESC", any_present(), named(chosen), "o.*") }} {{ where([same_series(), in_spans()]) }} ORDER BY r."span" DESC, o.t DESC LIMIT 1
-- statement: scan -> json records
SELECT {% for key in keys %}r.{{ key.name }}, {% endfor %}r."span", r."readings" FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}"span" int8 NOT NULL, "size" int4 NOT NULL, "readings" jsonb NOT NULL
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}"span"
-- macro: columns()
{{ series_columns() }}"span", "size", "readings"
-- macro: slots()
{{ series_slots() }}:span, :size, :record

-- layout: bulk-arrays < bulk
-- | row a span of a series, its readings in arrays, one a field
-- measured: always
-- macro: elements()
unnest(r."ns"{% for field in chosen %}, r.{{ field.name }}{% endfor %}) AS e(ns{% for field in chosen %}, f{{ field.number }}{% endfor %})
-- macro: nanosecond()
e.ns
-- macro: value(field)
e.f{{ field.number }}
-- statement: range -> columns
SELECT {{ answer_keys() }}r."span", r."ns"{% for field in chosen %}, r.{{ field.name }}{% endfor %}
FROM {{ table }} r
{{ where([selected(), in_spans()]) }}
ORDER BY {{ answer_keys() }}r."span"
-- statement: scan -> columns
SELECT {% for key in keys %}r.{{ key.name }}, {% endfor %}r."span", r."ns"{% for field in fields %}, r.{{ field.name }}{% endfor %} FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}"span" int8 NOT NULL, "size" int4 NOT NULL, "ns" {{ offset_type }}[] NOT NULL
{% for field in fields %}, {{ field.name }} {{ field.array }} NOT NULL{% endfor %}
-- macro: columns()
{{ series_columns() }}"span", "size", "ns"{% for field in fields %}, {{ field.name }}{% endfor %}
-- macro: slots()
{{ series_slots() }}:span, :size, :nanoseconds{% for field in fields %}, :field_{{ field.number }}{% endfor %}

-- layout: bulk-json-text < bulk
-- | row a span of a series, its readings in a json document kept as text
-- measured: on request
-- macro: elements()
json_array_elements(r."readings" -> 'measurements') AS e(v)
-- macro: nanosecond()
(e.v ->> 'ns')::{{ offset_type }}
-- macro: value(field)
(e.v -> 'm' ->> {{ field.number }})::{{ field.type }}
-- statement: range -> {{ "json records" if chosen | length == fields | length else "rows" }}
{% if chosen | length == fields | length %}{{ super() }}
{% else %}SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} ORDER BY {{ answer_keys() }}{{ at() }}
{% endif %}
-- macro: definitions()
{{ series_definitions() }}"span" int8 NOT NULL, "size" int4 NOT NULL, "readings" json NOT NULL

-- layout: summary < individual
-- | row a reading, and a table of sums by series, period and part of the day, upserted in the same statement
-- family: sums
-- measured: usual
-- macro: sums_column(field, part)
"{{ field.bare }}.{{ part }}"
-- macro: period()
".period"
-- macro: day()
".day"
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{{ create_sums() }}
-- macro: kept(column)
s.{{ column }}
-- macro: add_sums()
ON CONFLICT ({{ sums_key() }}) DO UPDATE SET {{ merge_sums() }}
-- Readings and their sums in one statement; of many readings each column is an array.
-- statement: write_many -> arrays
WITH input AS (SELECT * FROM unnest({{ slots() }}) AS input ({{ columns() }})),
stored AS (INSERT INTO {{ table }} ({{ columns() }}) SELECT {{ columns() }} FROM input)
INSERT INTO {{ sums_table }} AS s ({{ sums_key() }}{{ sums_columns() }})
SELECT {{ series_columns() }}{{ time }} - {{ time }} % {{ per_ns }}::int8, {{ is_day(time) }}
{% for field in numeric %}, count({{ field.name }}), sum({{ field.name }})::{{ field.sum_type }}, min({{ field.name }}), max({{ field.name }}){% endfor %}
FROM input GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
{{ add_sums() }}
-- statement: insert
WITH stored AS ({{ super() }}) INSERT INTO {{ sums_table }} AS s ({{ sums_key() }}{{ sums_columns() }})
VALUES ({% for key in keys %}{{ key.slot }}, {% endfor %}:time - :time % {{ per_ns }}::int8, {{ is_day(":time") }}
{% for field in numeric %}{% set value = ":field_" ~ field.number %}, ({{ value }} IS NOT NULL)::int4, {{ value }}::{{ field.sum_type }}, {{ value }}, {{ value }}{% endfor %})
{{ add_sums() }}

-- layout: summary-no-index < summary
-- | the same without an index on the readings
-- measured: on request
-- statement: index
