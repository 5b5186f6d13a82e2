-- QuestDB. What is not here is in standard.sql.

-- Times come back as whole numbers, because PostgreSQL's protocol has microseconds.
-- macro: ns()
{{ at() }}::long
-- macro: real(value, field)
{{ value }}{% if field.kind != "f64" %}::double{% endif %}
-- macro: comparable(field)
{{ real(value(field), field) }}
-- A sum of LONG wraps around. Where its floating point sum says so, a conversion fails in place of it. Near the ends of LONG the floating point sum is too coarse; there a
-- sum that wrapped around has the other sign.
-- macro: sum(value, kind)
{% set whole = "sum(" ~ value ~ ")" %}{% set real = "sum(" ~ value ~ "::double)" %}
{% if kind == "i64" %}CASE WHEN abs({{ real }}) < 9.2E18 OR (abs({{ real }}) < 1.2E19 AND {{ real }} * {{ whole }} > 0.0) THEN {{ whole }} ELSE {{ real }}::decimal(38, 0)::long END
{% else %}{{ whole }}
{% endif %}
-- Of the latest row, because rows are in the order of time.
-- macro: last_value(value, time)
last_not_null({{ value }})
-- What SAMPLE BY is made of, which takes no origin in ns. It takes constants, and no more than 32 bits count; other widths are computed.
-- macro: window(time)
{% for unit, sign in [[86400000000000, "d"], [3600000000000, "h"], [60000000000, "m"], [1000000000, "s"], [1000000, "T"], [1000, "U"], [1, "n"]] if printed.width_ns % unit == 0 and printed.width_ns // unit < 2147483648 %}
{% if loop.first %}timestamp_floor('{{ printed.width_ns // unit }}{{ sign }}', {{ at() }}, {{ printed.origin_ns }}::timestamp_ns)::long{% endif %}
{% else %}{{ time }} - ({{ time }} - {{ printed.origin_ns }}) % {{ printed.width_ns }}
{% endfor %}
-- macro: in_set()
{% if keys | length == 1 %}r.{{ keys[0] }} IN ({% for number in range(named) %}{{ nth_slot(keys[0], number) }}{% if not loop.last %}, {% endif %}{% endfor %})
{% else %}({% for number in range(named) %}({{ nth(number) }}){% if not loop.last %} OR {% endif %}{% endfor %})
{% endif %}
-- It has no HAVING.
-- macro: grouped(columns, rest)
{% if group_count %}{{ super() }}{% else %}SELECT * FROM (SELECT {{ columns }}, count(*) AS n FROM {{ rest }}) w WHERE w.n > 0{% endif %}

-- How far a table's log is applied. A question waits until it shows all that was committed before it.
-- macro: look(name)
SELECT writerTxn, sequencerTxn, suspended FROM wal_tables() WHERE name = '{{ name | replace(q, "") }}'
-- statement: before
{{ look(entity.table if statement == "scan_entities" else table) }}
-- statement: shown
{{ look(table) }}{% if entity %}; {{ look(entity.table) }}{% endif %}

-- Keys of one column that are named end the search when all of them are found. Any other condition would be tried on every row, so it comes after the search, if it is about
-- whole series. QuestDB 9.3.4 may besides answer with another series' row where one symbol with an index is asked for with a further condition
-- (https://github.com/questdb/questdb/pull/7333).
-- macro: latest_on(condition)
{{ table }} r {{ where([in_range(), condition, any_present()]) }} LATEST ON {{ time }} PARTITION BY {{ key_names() }}
-- statement: latest
{% if of == "one" or not keys %}{{ super() }}
{% elif of == "all" or of == "set" and keys | length == 1 and not any_present() %}SELECT {{ answer_keys() }}{{ ns() }}{{ values(chosen) }} FROM {{ latest_on(selected()) }}
{% else %}SELECT {{ answer_keys() }}{{ ns() }}{{ values(chosen) }} FROM (SELECT * FROM {{ latest_on("") }}) r WHERE {{ selected() }}
{% endif %}
-- statement: last_values -> aggregate
{{ super() }}
-- Its mode() does not say which of equals.
-- statement: most_frequent_values
SELECT {{ keys_of("q", "g") }}q.v
FROM (SELECT *, row_number() OVER (PARTITION BY {% for key in keys %}p.g{{ loop.index0 }}{% if not loop.last %}, {% endif %}{% endfor %} ORDER BY p.c DESC, p.v) AS n
      FROM (SELECT {{ keys_as("g") }}{{ value(chosen[0]) }} AS v, count(*) AS c FROM {{ chosen_readings() }} GROUP BY {{ group_numbers() }}, {{ group_count + 1 }}) p) q WHERE q.n = 1
-- macro: share(value, held)
coalesce(sum(CASE WHEN {{ value }} = 1 THEN {{ held }} END), 0)::double / sum({{ held }})::double
-- statement: shares
SELECT {{ keys_of("q", "g") }}{{ share("q.v", "(coalesce(q.n, " ~ end_ns() ~ ") - q.t)") }}
FROM (SELECT {{ keys_as("g") }}{{ value(chosen[0]) }} AS v, {{ ns() }} AS t, {{ next(ns()) }} OVER (PARTITION BY {{ key_names("r.") }} ORDER BY {{ at() }}) AS n
      FROM {{ chosen_readings() }}) q GROUP BY {{ group_numbers() }}
-- statement: out_of_range
SELECT q.w, q.a, q.b FROM (SELECT {{ window(ns()) }} AS w, max({{ value(inputs[0]) }}) AS a, min({{ value(inputs[0]) }}) AS b FROM {{ inputs_of(selected()) }} GROUP BY 1) q
WHERE {{ real("q.a", inputs[0]) }} > :above OR {{ real("q.b", inputs[0]) }} < :below
-- The limit stands outside: a sort of 9.3.4 that knows its limit loses rows where it computes what it orders by.
-- statement: nearest
SELECT * FROM ({{ super() | replace(" LIMIT :count", "") }}) LIMIT :count
-- It computes nothing of window functions.
-- statement: z_scores
SELECT q.t, q.v, (q.x - q.m) / q.d
FROM (SELECT p.t, p.v, p.x, o.m, o.d
      FROM (SELECT {{ ns() }} AS t, {{ value(inputs[0]) }} AS v, {{ comparable(inputs[0]) }} AS x FROM {{ inputs_of(selected()) }}) p
      CROSS JOIN (SELECT avg({{ comparable(inputs[0]) }}) AS m, stddev_samp({{ comparable(inputs[0]) }}) AS d FROM {{ inputs_of(selected()) }}) o) q
WHERE q.d > 0{% if is_bounded %} AND abs(q.x - q.m) > :threshold * q.d{% endif %} ORDER BY q.t
-- statement: scan_entities
{{ super() | replace(entity.last, entity.last ~ "::long") }}

-- An index is for symbols alone, so whole numbers are symbols too.
-- macro: index(tag)
{% if tag.number in keys | map(attribute="number") | list %}INDEX{% endif %}
-- A partition is as long as the number of readings a day asks; where nobody knows, it is QuestDB's default for lines.
-- macro: partition()
{% if readings_a_day is none %}DAY{% elif readings_a_day < 100000 %}MONTH{% elif readings_a_day > 10000000 %}HOUR{% else %}DAY{% endif %}
-- statement: create
CREATE TABLE {{ table }} ({% for tag in tags %}{{ tag }} {{ tag.type }} {{ index(tag) }}, {% endfor %}{{ time }} {{ time_type }}{% for field in fields %}, {{ field }} {{ field.type }}{% endfor %})
TIMESTAMP({{ time }}) PARTITION BY {{ partition() }} WAL DEDUP UPSERT KEYS({{ index_columns() }})
-- All entities have the same time, so that a later row of one replaces that before. No schema has the name.
-- statement: create_entities
CREATE TABLE {{ entity.table }} ("_at" {{ time_type }}{% for column in keys + entity.columns %}, {{ column }} {{ column.type }}{% endfor %}, {{ entity.last }} {{ time_type }})
TIMESTAMP("_at") PARTITION BY YEAR WAL DEDUP UPSERT KEYS({% for key in keys %}{{ key }}, {% endfor %}"_at")
-- statement: insert -> lines
{{ table | replace(q, "") }}
-- macro: entity_line()
{{ entity.table | replace(q, "") }} {% for column in entity.columns %}:entity_{{ loop.index0 }} {% endfor %}
-- statement: upsert_entity -> lines
{{ entity_line() }} :time
-- statement: upsert_reading -> lines
{{ entity_line() }} {{ table | replace(q, "") }} {{ slots() }}

-- layout: individual
-- | row a reading in the order of its TIMESTAMP_NS, a partition a month, day or hour by their number a day, tags SYMBOL with an INDEX on those that tell series apart, DEDUP UPSERT KEYS
-- family: reading
-- measured: usual
-- kept: time = "native"
-- two commits: a transaction of QuestDB's is of one table; choose two commits

-- layout: individual-no-index < individual
-- | the same without an index on symbols: a question reads its range of time
-- measured: always
-- needs: tags
-- kept: index = "none"
-- macro: index(tag)
