-- What every SQL database is asked, in SQL that most of them read. A store says in its own statements.sql what its database says in another way.
--
-- Values are bound: :start, :end, :time, :tag, :threshold, :width, :origin, :day_start, :day_end, :key_NAME (the series), :set (the keys of several series), :all.
-- What is derived has :threshold, :above, :below, :near_a, :near_b, :count and :other_key_NAME (the other series).
-- A value that is printed, as {{ width }}, is part of the text; the statement is then rendered for each value of it.
-- Names are quoted already; own("x") is the name of a column of ours that no tag and field has. Rows are called r, rows of a table of tags g or s.

-- ---------------------------------------------------------------------------------------------------- parts that a layout or a store says otherwise

-- Where readings come from, when a reading was taken, and its value of a field. A layout that keeps several readings in a row says these three
-- and `in_range`, and has every question.
-- macro: source()
{{ table }} r
-- macro: at()
r.{{ time }}
-- macro: value(field)
r.{{ field }}
-- macro: in_range()
{{ in_time() }}
-- macro: in_time()
{{ at() }} >= :start AND {{ at() }} < :end
-- Where a row is a span of a series: its number, and which rows a range touches.
-- macro: span()
{{ own("span") }}
-- macro: in_spans()
r.{{ span() }} >= :first_span AND r.{{ span() }} <= :last_span
-- macro: at_time()
{{ at() }} = :time

-- The same time in ns since 1970: so times are answered, and computed with.
-- macro: ns()
{{ at() }}

-- macro: end_ns()
:end

-- macro: present(value)
{{ value }} IS NOT NULL
-- macro: comparable(field)
{{ value(field) }}
-- macro: in_set()
r.{{ keys[0] }} IN (:set)
-- macro: tagged()
r.{{ keys[0] }} IN (SELECT {{ keys[0] }} FROM {{ tags_table }} WHERE {{ tag }} = :tag)
-- A condition on all series, where it helps to find an index.
-- macro: every_series()
-- What comes after the time in an order, where the database may hold two readings of one time.
-- macro: after_time(direction)
-- Where all of a series lies in records of a span, the span is the first thing to order by.
-- macro: order_time(direction)
{{ at() }}{{ direction }}

-- macro: window(time)
{{ time }} - ({{ time }} - :origin) % :width
-- macro: is_day(time)
({{ time }} % 86400000000000 >= :day_start AND {{ time }} % 86400000000000 < :day_end)
-- The next row's value, NULL after the last row.
-- macro: next(value)
lead({{ value }})
-- macro: sum(value, kind)
sum({{ value }})
-- macro: mean(value, kind)
avg({{ value }})
-- macro: mean_of_sums(field)
sum(r.{{ sums_column(field, "sum") }}) / nullif(sum(r.{{ sums_column(field, "count") }}), 0)

-- ---------------------------------------------------------------------------------------------------- parts that are seldom said otherwise

-- Conditions may be empty.
-- macro: where(conditions)
{% if conditions | map("trim") | select | list %}WHERE {{ conditions | map("trim") | select | join(" AND ") }}{% endif %}
-- macro: answer_keys()
{% if of != "one" %}{% for key in keys %}r.{{ key }}, {% endfor %}{% endif %}
-- macro: values(fields)
{% for field in fields %}, {{ value(field) }}{% endfor %}
-- macro: one()
{% for key in keys %}r.{{ key }} = {{ key.slot }}{% if not loop.last %} AND {% endif %}{% endfor %}
-- macro: same_series()
{% for key in keys %}r.{{ key }} = s.{{ key }}{% if not loop.last %} AND {% endif %}{% endfor %}
-- macro: selected()
{% if not keys %}
{% elif of == "one" %}{{ one() }}
{% elif of == "set" %}{{ in_set() }}
{% elif of == "tagged" and tags_table %}{{ tagged() }}
{% elif of == "tagged" %}r.{{ tag }} = :tag
{% else %}{{ every_series() }}
{% endif %}
-- Readings that have none of the chosen fields are none; where one of them is always there, nothing is to be said.
-- macro: any_present()
{% if chosen | selectattr("nullable") | list | length == chosen | length %}
({% for field in chosen %}{{ present(value(field)) }}{% if not loop.last %} OR {% endif %}{% endfor %})
{% endif %}
-- macro: passes()
{{ comparable(inputs[0]) }} {% if above %}>{% else %}<{% endif %} :threshold
-- The first reading in an order. It is asked of one series.
-- macro: first_of(conditions, order, direction)
SELECT {{ ns() }}{{ values(chosen) }} FROM {{ source() }} {{ where(conditions) }} ORDER BY {{ order }}{{ after_time(direction) }} LIMIT 1

-- macro: aggregate_of(name, value, kind, time)
{% if name == "sum" %}{{ sum(value, kind) }}
{% elif name == "mean" %}{{ mean(value, kind) }}
{% elif name == "standard_deviation" %}{{ deviation(value) }}
{% elif name == "last" %}{{ last_value(value, time) }}
{% elif name == "most_frequent" %}{{ most_frequent(value) }}
{% else %}{{ name }}({{ value }}){% endif %}
-- macro: deviation(value)
stddev_samp({{ value }})
-- macro: last_value(value, time)
-- macro: most_frequent(value)
-- macro: aggregates()
{% for one in functions %}{{ aggregate_of(one.name, value(one.field), one.field.kind, at()) }}{% if not loop.last %}, {% endif %}{% endfor %}
-- macro: groups()
{% if by_series %}{% for key in keys %}r.{{ key }}, {% endfor %}{% endif %}
{% if by_tag %}{{ "g" if tags_table else "r" }}.{{ by_tag }}, {% endif %}
{% if windows %}({{ window(ns()) }}), {% endif %}
{% if day_parts %}{{ is_day(ns()) }}, {% endif %}
-- macro: group_numbers()
{% for number in range(group_count) %}{{ number + 1 }}{% if not loop.last %}, {% endif %}{% endfor %}
-- macro: join()
JOIN
-- macro: with_tags()
{% if by_tag and tags_table %} {{ join() }} {{ tags_table }} g ON g.{{ keys[0] }} = r.{{ keys[0] }}{% endif %}
-- A whole without readings is no row.
-- macro: grouped(columns, rest)
SELECT {{ columns }} FROM {{ rest }}{% if group_count %} GROUP BY {{ group_numbers() }}{% else %} HAVING count(*) > 0{% endif %}
-- macro: chosen_readings()
{{ source() }} {{ with_tags() }} {{ where([in_range(), selected(), any_present()]) }}

-- ---------------------------------------------------------------------------------------------------- questions

-- statement: point
SELECT {{ answer_keys() }}{{ ns() }}{{ values(chosen) }} FROM {{ source() }} {{ where([selected(), at_time(), any_present()]) }}
-- statement: range
SELECT {{ answer_keys() }}{{ ns() }}{{ values(chosen) }} FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }}
ORDER BY {{ answer_keys() }}{{ at() }}{{ after_time("") }}
-- statement: first
{{ first_of([in_range(), selected(), passes()], order_time(""), "") }}
-- statement: last
{{ first_of([in_range(), selected(), passes()], order_time(" DESC"), " DESC") }}
-- statement: minimum
{{ first_of([in_range(), selected(), present(value(chosen[0])) if chosen[0].nullable else ""], value(chosen[0]) ~ ", " ~ at(), "") }}
-- The n-th of the series that are named, and its key.
-- macro: nth_slot(key, number)
{{ key.slot | replace(":", ":nth" ~ number ~ "_") }}
-- macro: nth(number)
{% for key in keys %}r.{{ key }} = {{ nth_slot(key, number) }}{% if not loop.last %} AND {% endif %}{% endfor %}
-- Not empty where the latest readings of the series are asked for one by one.
-- macro: one_by_one()
-- macro: latest_of(columns, condition)
SELECT {{ answer_keys() }}{{ columns }} FROM {{ source() }} {{ where([in_range(), condition, any_present()]) }}
ORDER BY {{ order_time(" DESC") }}{{ after_time(" DESC") }} LIMIT 1
-- macro: each_latest(columns)
{% for number in range(named) %}({{ latest_of(columns, nth(number)) }}){% if not loop.last %} UNION ALL {% endif %}{% endfor %}
-- macro: latest_at()
{% if one_by_one() %}{{ each_latest(at()) }}
{% elif of == "one" or not keys %}{{ latest_of(at(), selected()) }}
{% else %}SELECT {{ key_names("r.") }}, max({{ at() }}) FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} GROUP BY {{ key_names("r.") }}
{% endif %}
-- macro: at_latest()
(SELECT {{ answer_keys() }}max({{ at() }}) AS t FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} GROUP BY {{ key_names("r.") }}) m
JOIN {{ source() }} ON {% for key in keys %}r.{{ key }} = m.{{ key }} AND {% endfor %}{{ at() }} = m.t
-- statement: latest
{% if one_by_one() %}
{{ each_latest(ns() ~ values(chosen)) }}
{% elif of == "one" or not keys %}
{{ latest_of(ns() ~ values(chosen), selected()) }}
{% else %}
SELECT {{ answer_keys() }}{{ ns() }}{{ values(chosen) }} FROM {{ at_latest() }} {{ where([any_present()]) }}
{% endif %}
-- Times alone, where a reading is not a row: the reading of each is a point that follows.
-- statement: latest_times -> times
-- macro: index_hint()
-- statement: matching
{{ matching_at_once() }}
-- macro: matching_at_once()
{% if keys %}
SELECT DISTINCT {{ key_names("r.") }} FROM {{ source() }} {{ index_hint() }} {{ where([in_range(), selected(), passes()]) }}
{% else %}
SELECT 0 FROM {{ source() }} {{ where([in_range(), passes()]) }} LIMIT 1
{% endif %}
-- statement: aggregate
{{ grouped(groups() ~ aggregates(), chosen_readings()) }}
-- statement: scan
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}{{ ns() }}{{ values(fields) }} FROM {{ source() }}
-- statement: scan_entities
SELECT {% for key in keys %}{{ key }}, {% endfor %}{{ entity.last }}{% for column in entity.columns %}, {{ column }}{% endfor %}
FROM {{ entity.table }}

-- ---------------------------------------------------------------------------------------------------- what is derived from readings

-- statement: standard_deviation -> aggregate
{{ grouped(groups() ~ aggregates(), chosen_readings()) }}
-- macro: inputs_present()
{% for field in inputs if field.nullable %}{{ present(value(field)) }}{% if not loop.last %} AND {% endif %}{% endfor %}
-- macro: inputs_of(series)
{{ source() }} {{ where([in_range(), series, inputs_present()]) }}
-- macro: shown_present()
{% if shown | selectattr("nullable") | list | length == shown | length %}
({% for field in shown %}{{ present(value(field)) }}{% if not loop.last %} OR {% endif %}{% endfor %})
{% endif %}
-- statement: rows_by_value
SELECT {{ answer_keys() }}{{ ns() }}{{ values(shown) }} FROM {{ source() }} {{ where([in_range(), selected(), passes(), shown_present()]) }}
ORDER BY {{ answer_keys() }}{{ at() }}{{ after_time("") }}
-- statement: interpolated
-- statement: correlation
{{ grouped("corr(" ~ comparable(inputs[0]) ~ ", " ~ comparable(inputs[1]) ~ ")", inputs_of(selected())) }}
-- statement: out_of_range
SELECT ({{ window(ns()) }}), max({{ value(inputs[0]) }}), min({{ value(inputs[0]) }}) FROM {{ inputs_of(selected()) }}
GROUP BY 1 HAVING max({{ comparable(inputs[0]) }}) > :above OR min({{ comparable(inputs[0]) }}) < :below
-- macro: other()
{{ one() | replace(":", ":other_") }}
-- macro: means(series)
SELECT ({{ window(ns()) }}) AS w, {{ mean(value(inputs[0]), inputs[0].kind) }} AS v FROM {{ inputs_of(series) }} GROUP BY 1
-- statement: difference
SELECT q.w, o.v - q.v FROM ({{ means(selected()) }}) q JOIN ({{ means(other()) }}) o ON o.w = q.w
-- statement: cross_mean
SELECT {{ ns() }}{{ values(inputs) }}, {{ comparable(inputs[0]) }} / 2.0 + {{ comparable(inputs[1]) }} / 2.0 FROM {{ inputs_of(selected()) }} ORDER BY {{ at() }}
-- macro: square(value)
({{ value }}) * ({{ value }})
-- statement: nearest
SELECT q.t, sqrt(q.d), q.a, q.b
FROM (SELECT {{ ns() }} AS t, {{ square(comparable(inputs[0]) ~ " - :near_a") }} + {{ square(comparable(inputs[1]) ~ " - :near_b") }} AS d, {{ value(inputs[0]) }} AS a, {{ value(inputs[1]) }} AS b
      FROM {{ inputs_of(selected()) }}) q ORDER BY q.d, q.t LIMIT :count
-- statement: segments
SELECT min(q.t), max(q.t), {{ mean("q.v", "f64") }}
FROM (SELECT p.t, p.v, sum(CASE WHEN {{ square("p.v - p.b") }} > :threshold THEN 1 ELSE 0 END) OVER (ORDER BY p.t ROWS UNBOUNDED PRECEDING) AS n
      FROM (SELECT {{ ns() }} AS t, {{ comparable(inputs[0]) }} AS v, lag({{ comparable(inputs[0]) }}) OVER (ORDER BY {{ at() }}) AS b
            FROM {{ inputs_of(selected()) }}) p) q GROUP BY q.n
-- statement: z_scores
SELECT q.t, q.v, (q.x - q.m) / q.d
FROM (SELECT {{ ns() }} AS t, {{ value(inputs[0]) }} AS v, {{ comparable(inputs[0]) }} AS x, avg({{ comparable(inputs[0]) }}) OVER () AS m, stddev_samp({{ comparable(inputs[0]) }}) OVER () AS d
      FROM {{ inputs_of(selected()) }}) q
WHERE q.d > 0{% if is_bounded %} AND abs(q.x - q.m) > :threshold * q.d{% endif %} ORDER BY q.t

-- ---------------------------------------------------------------------------------------------------- functions of their own

-- Last values, shares and most frequent values are asked of each series by itself: in one statement with the others (`statistics`), or each in its own.
-- statement: statistics
-- Where functions stand over windows: the next reading that has the field says how long a reading holds.
-- macro: keys_as(name)
{% for key in keys %}r.{{ key }} AS {{ name }}{{ loop.index0 }}, {% endfor %}
-- macro: keys_of(row, name)
{% for key in keys %}{{ row }}.{{ name }}{{ loop.index0 }}, {% endfor %}
-- macro: statistics_in_one()
SELECT {{ keys_of("q", "k") }}
{% for one in functions %}
{% set value = "q.f" ~ one.field.number %}{% set held = "(least(q.n" ~ one.field.number ~ ", " ~ end_ns() ~ ") - q.t)" %}
{% if one.name == "time_weighted_share" %}{{ share(value, held) }}{% else %}{{ aggregate_of(one.name, value, one.field.kind, "q.t") }}{% endif %}
{% if not loop.last %}, {% endif %}
{% endfor %}
FROM (SELECT {{ keys_as("k") }}{{ ns() }} AS t
      {% for field in chosen %}
      , {{ value(field) }} AS f{{ field.number }}
      , {{ next(ns()) }} OVER (PARTITION BY {{ key_names("r.") }}, ({{ value(field) }}) IS NULL ORDER BY {{ at() }}) AS n{{ field.number }}
      {% endfor %}
      FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }}) q GROUP BY {{ group_numbers() }}
-- macro: first_of_each_series(value, order, rest)
SELECT {{ keys_of("q", "g") }}q.v
FROM (SELECT {{ keys_as("g") }}{{ value }} AS v, row_number() OVER (PARTITION BY {{ key_names("r.") }} ORDER BY {{ order }}) AS n
      FROM {{ chosen_readings() }} {{ rest }}) q WHERE q.n = 1
-- statement: last_values
{{ first_of_each_series(value(chosen[0]), at() ~ " DESC" ~ after_time(" DESC"), "") }}
-- statement: most_frequent_values
{{ first_of_each_series(value(chosen[0]), "count(*) DESC, " ~ value(chosen[0]), "GROUP BY " ~ group_numbers() ~ ", " ~ (group_count + 1)) }}
-- statement: shares
{% set held = "coalesce(" ~ next(ns()) ~ " OVER (PARTITION BY " ~ key_names("r.") ~ " ORDER BY " ~ at() ~ after_time("") ~ "), " ~ end_ns() ~ ")" %}
{{ grouped(keys_of("q", "g") ~ share("q.v", "q.h"), "(SELECT " ~ keys_as("g") ~ value(chosen[0]) ~ " AS v, " ~ held ~ " - " ~ ns() ~ " AS h FROM " ~ chosen_readings() ~ ") q") }}
-- macro: share(value, held)

-- ---------------------------------------------------------------------------------------------------- sums that are kept beside readings

-- Only layouts that keep sums say these.
-- statement: sums
-- statement: create_sums
-- statement: add_sums
-- macro: sums_column(field, part)
{{ own(field.bare ~ "_" ~ part) }}
-- macro: period()
{{ own("period_ns") }}
-- macro: day()
{{ own("day") }}
-- Means of one series are asked of them, by window or part of the day.
-- macro: sums_groups()
{% if windows %}{{ window("r." ~ period()) }}, {% endif %}{% if day_parts %}r.{{ day() }}, {% endif %}
-- macro: sums_present()
(r.{{ sums_column(chosen[0], "count") }} > 0)
-- macro: in_periods()
r.{{ period() }} >= :start AND r.{{ period() }} < :end
-- macro: sums_key()
{{ [key_names(), period(), day()] | select | join(", ") }}
-- macro: sums_columns()
{% for field in numeric %}{% for part in ["count", "sum", "min", "max"] %}, {{ sums_column(field, part) }}{% endfor %}{% endfor %}
-- macro: sums_slots()
{% for field in numeric %}{% for part in ["count", "sum", "min", "max"] %}, :{{ part }}_{{ field.number }}{% endfor %}{% endfor %}
-- macro: sums_type(field, part)
{{ field.sum_type }}
-- macro: create_sums()
CREATE TABLE {{ sums_table }} (
  {{ series_definitions() }}{{ period() }} {{ types.i64 }} NOT NULL, {{ day() }} {{ types.bool }} NOT NULL
  {% for field in numeric %}
  , {{ sums_column(field, "count") }} {{ types.i64 }} NOT NULL
  {% for part in ["sum", "min", "max"] %}, {{ sums_column(field, part) }} {{ sums_type(field, part) }}{% endfor %}
  {% endfor %}
  , PRIMARY KEY ({{ sums_key() }}))
-- A row of sums that is there, and what is added to it.
-- macro: kept(column)
{{ column }}
-- macro: incoming(column)
excluded.{{ column }}
-- macro: merged(part, kept, more, field)
{% if part == "count" %}{{ kept }} + {{ more }}
{% elif part == "sum" %}coalesce({{ kept }} + {{ more }}, {{ kept }}, {{ more }})
{% elif part == "min" %}least({{ kept }}, {{ more }})
{% else %}greatest({{ kept }}, {{ more }})
{% endif %}
-- macro: merge_sums()
{% for field in numeric %}{% set last = loop.last %}{% for part in ["count", "sum", "min", "max"] %}
{% set column = sums_column(field, part) %}{{ column }} = {{ merged(part, kept(column), incoming(column), field) }}{% if not (last and loop.last) %}, {% endif %}
{% endfor %}{% endfor %}
-- macro: read_sums()
{{ grouped(sums_groups() ~ mean_of_sums(chosen[0]), sums_table ~ " r " ~ where([selected(), in_periods(), sums_present()])) }}

-- ---------------------------------------------------------------------------------------------------- tables and writes

-- macro: series_definitions()
{% for one in tags or keys %}{{ one }} {{ one.type }} NOT NULL, {% endfor %}
-- macro: definitions()
{{ series_definitions() }}{{ time }} {{ time_type }} NOT NULL{{ after_time_column() }}
{% for field in fields %}, {{ field }} {{ field.type }}{% if not field.nullable %} NOT NULL{% endif %}{% endfor %}
-- macro: after_time_column()
-- macro: primary_key()
-- macro: key_names(row="")
{% for key in keys %}{{ row }}{{ key }}{% if not loop.last %}, {% endif %}{% endfor %}
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}{{ time }}
-- statement: create
CREATE TABLE {{ table }} ({{ definitions() }}{{ primary_key() }})
-- statement: index
-- statement: create_tags
CREATE TABLE {{ tags_table }} ({{ keys[0] }} {{ keys[0].type }} PRIMARY KEY{% for tag in all_tags %}, {{ tag }} {{ tag.type }} NOT NULL{% endfor %})
-- statement: index_tags
-- statement: fill_tags
INSERT INTO {{ tags_table }} ({{ keys[0] }}{% for tag in all_tags %}, {{ tag }}{% endfor %}) VALUES ({{ keys[0].slot }}{% for tag in all_tags %}, {{ tag.slot }}{% endfor %})
-- Without tags there is one entity.
-- macro: only_entity()
"$only"
-- macro: entity_key()
{{ key_names() or only_entity() }}
-- statement: create_entities
CREATE TABLE {{ entity.table }} (
  {% for key in keys %}{{ key }} {{ key.type }} NOT NULL, {% endfor %}
  {% for column in entity.columns %}{{ column }} {{ column.type }}{% if not column.nullable %} NOT NULL{% endif %}, {% endfor %}
  {{ entity.last }} {{ time_type }} NOT NULL
  {% if not keys %}, {{ only_entity() }} {{ types.u16 }} DEFAULT 1 NOT NULL{% endif %}
  , PRIMARY KEY ({{ entity_key() }}))
-- What a row of readings has, in the order in which values are given.
-- macro: series_columns()
{% for one in tags or keys %}{{ one }}, {% endfor %}
-- macro: series_slots()
{% for one in tags or keys %}{{ one.slot }}, {% endfor %}
-- macro: columns()
{{ series_columns() }}{{ time }}{% for field in fields %}, {{ field }}{% endfor %}
-- macro: slots()
{{ series_slots() }}:time{% for field in fields %}, :field_{{ field.number }}{% endfor %}
-- What a row has, where what carries it has no slots.
-- statement: row
{{ slots() }}
-- statement: insert
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ slots() }})
-- For a row whose key is there already, where the layout keeps both.
-- statement: insert_repeated
-- Many rows at once, where the database has a faster way.
-- statement: write_many
-- macro: insert_entity()
INSERT INTO {{ entity.table }} ({% for column in keys + entity.columns %}{{ column }}, {% endfor %}{{ entity.last }})
VALUES ({% for key in keys %}{{ key.slot }}, {% endfor %}{% for column in entity.columns %}:entity_{{ loop.index0 }}, {% endfor %}:time)
-- statement: upsert_entity
{{ insert_entity() }} ON CONFLICT ({{ entity_key() }}) DO UPDATE SET {{ entity.last }} = excluded.{{ entity.last }}
