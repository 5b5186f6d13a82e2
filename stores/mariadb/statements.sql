-- MariaDB. What is not here is in standard.sql.

-- The mean of whole numbers would be a decimal of few digits.
-- macro: mean(value, kind)
CAST(sum({{ value }}) AS DOUBLE) / count({{ value }})
-- macro: mean_of_sums(field)
CAST(sum(r.{{ sums_column(field, "sum") }}) AS DOUBLE) / sum(r.{{ sums_column(field, "count") }})
-- macro: comparable(field)
{% if field.kind == "f64" %}{{ value(field) }}{% else %}CAST({{ value(field) }} AS DOUBLE){% endif %}
-- macro: passes()
{{ value(inputs[0]) }} {% if above %}>{% else %}<{% endif %} :threshold
-- macro: share(value, held)
CAST(sum(IF({{ value }}, {{ held }}, 0)) AS DOUBLE) / CAST(sum({{ held }}) AS DOUBLE)
-- It has no function for it, so the client answers.
-- statement: correlation
-- Readings first. The other way round they would be looked up one by one.
-- macro: join()
STRAIGHT_JOIN
-- DISTINCT in the order of an index would look all readings up one by one.
-- macro: index_hint()
IGNORE INDEX FOR GROUP BY (`by_time`)

-- Constants let the index be read from each series' own place; the same series from a subquery are read from their beginnings.
-- macro: in_set()
{% if keys | length == 1 %}r.{{ keys[0] }} IN ({% for number in range(named) %}{{ nth_slot(keys[0], number) }}{% if not loop.last %}, {% endif %}{% endfor %})
{% else %}({% for number in range(named) %}({{ nth(number) }}){% if not loop.last %} OR {% endif %}{% endfor %})
{% endif %}
-- It does not skip within an index on (series, time), so the series are named here too.
-- macro: every_series()
{% if keys and named <= 500 %}{{ in_set() }}{% endif %}
-- A few series are asked for one by one, whatever the optimizer believes of the table: ten of 18,000 readings took 2.6 s as one join with the latest times, and 1.7 ms so.
-- A condition on a field keeps the index from giving the latest times, and then all are.
-- macro: one_by_one()
{% if of in ["set", "all"] and keys and named <= (500 if any_present() else 20) %}yes{% endif %}

-- macro: options()
ENGINE=InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin
-- macro: primary_key()
, KEY `by_time` ({{ index_columns() }})
-- statement: create
{{ super() }} {{ options() }}
-- Where a tag tells all series apart, the optimizer may look its series up before it plans the rest. A part of a long tag does not.
-- statement: create_tags
CREATE TABLE {{ tags_table }} ({{ keys[0] }} {{ keys[0].type }} NOT NULL PRIMARY KEY{% for tag in all_tags %}, {{ tag }} {{ "LONGTEXT" if tag.long else tag.type }} NOT NULL{% endfor %}
{% for tag in all_tags %}, {% if tag.unique and not tag.long %}UNIQUE {% endif %}KEY `by_tag_{{ tag.number }}` ({{ tag }}{% if tag.long %}(190){% endif %}){% endfor %}) {{ options() }}
-- macro: only_entity()
`$only`
-- statement: create_entities
{{ super() }} {{ options() }}

-- One statement executed for all rows is one request and one commit.
-- statement: fill_tags -> bulk
{{ super() }}
-- statement: insert -> bulk
{{ super() }}
-- macro: insert_reading()
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ slots() }})
-- macro: reading_parts()
{{ insert_reading() }}
-- To update first what may not be there would lock the gap where others insert theirs.
-- macro: upsert()
{{ insert_entity() }} ON DUPLICATE KEY UPDATE {{ entity.last }} = VALUES({{ entity.last }})
-- statement: upsert_entity
{{ upsert() }}
-- macro: together(statements)
BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; START TRANSACTION; {{ statements }}; COMMIT; END
-- statement: upsert_reading
{{ together(upsert() ~ "; " ~ reading_parts()) }}

-- layout: individual
-- | row a reading (time bigint in ns, a column a field), index on (series, time)
-- family: reading
-- measured: usual

-- layout: individual-row-per-field < individual
-- | row a field (channel) of a reading: second bigint, nanosecond int, number smallint unsigned, measurement; index on (second, nanosecond); one commit a reading
-- needs: several fields of one type
-- measured: on request
-- kept: shape = "row_per_field"
-- rows: fields
-- readings in a write: 1000
-- macro: reading_parts()
INSERT INTO {{ table }} ({{ columns() }}) VALUES {% for field in fields %}({{ series_slots() }}:second, :nanosecond, {{ field.number }}, :field_{{ field.number }}){% if not loop.last %}, {% endif %}{% endfor %}
-- statement: upsert_reading
{% if not fields | selectattr("nullable") | list %}{{ super() }}{% endif %}
-- macro: second()
r.{{ own("second") }}
-- macro: nanosecond()
r.{{ own("nanosecond") }}
-- macro: field_number()
r.{{ own("number") }}
-- macro: field_value()
r.{{ own("measurement") }}
-- macro: at()
({{ second() }} * 1000000000 + {{ nanosecond() }})
-- macro: at_time()
{{ second() }} = :start_second AND {{ nanosecond() }} = :start_nanosecond
-- macro: in_time()
({{ second() }} > :start_second OR ({{ second() }} = :start_second AND {{ nanosecond() }} >= :start_nanosecond)) AND ({{ second() }} < :end_second OR ({{ second() }} = :end_second AND {{ nanosecond() }} < :end_nanosecond))
-- macro: of_fields()
{{ field_number() }} IN ({{ chosen | map(attribute="number") | join(", ") }})
-- macro: in_range()
{{ of_fields() }} AND {{ in_time() }}
-- macro: order_time(direction)
{{ second() }}{{ direction }}, {{ nanosecond() }}{{ direction }}
-- macro: value(field)
{% if chosen | length == 1 %}{{ field_value() }}{% else %}CASE WHEN {{ field_number() }} = {{ field.number }} THEN {{ field_value() }} END{% endif %}
-- A reading without any field has a row without a value.
-- macro: any_present()
{% if fields | selectattr("nullable") | list %}{{ field_value() }} IS NOT NULL{% endif %}
-- macro: some()
{% if chosen | length < fields | length %}{{ of_fields() }}{% endif %}
-- macro: field_rows(conditions)
SELECT {{ answer_keys() }}{{ at() }}, {{ field_number() }}, {{ field_value() }} FROM {{ table }} r {{ where(conditions) }} ORDER BY {{ answer_keys() }}{{ order_time("") }}, {{ field_number() }}
-- statement: point -> field rows
{{ field_rows([selected(), at_time(), some(), any_present()]) }}
-- statement: range -> field rows
{{ field_rows([selected(), in_time(), some(), any_present()]) }}
-- macro: one_by_one()
{% if of in ["set", "all"] and keys and named <= 500 %}yes{% endif %}
-- statement: latest
-- statement: latest_times -> times
{{ latest_at() }}
-- Fields of one reading are rows: the client puts them together.
-- statement: rows_by_value
-- statement: cross_mean
-- statement: nearest
-- statement: scan -> field rows
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}{{ at() }}, {{ field_number() }}, {{ field_value() }} FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}{{ own("second") }} BIGINT NOT NULL, {{ own("nanosecond") }} INT NOT NULL, {{ own("number") }} SMALLINT UNSIGNED NOT NULL, {{ own("measurement") }} {{ fields[0].type }}{% if not fields | selectattr("nullable") | list %} NOT NULL{% endif %}
-- macro: time_columns()
{{ own("second") }}, {{ own("nanosecond") }}
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}{{ time_columns() }}
-- macro: columns()
{{ series_columns() }}{{ time_columns() }}, {{ own("number") }}, {{ own("measurement") }}
-- macro: slots()
{{ series_slots() }}:second, :nanosecond, :field, :value

-- layout: individual-no-index < individual
-- | the same rows without an index
-- measured: on request
-- kept: index = "none"
-- macro: primary_key()
-- macro: every_series()
-- macro: one_by_one()
-- macro: index_hint()

-- How InnoDB likes it best: rows of a series side by side.
-- layout: individual-clustered < individual
-- | row a reading, kept in the order of PRIMARY KEY (series, time); refuses repeated readings
-- measured: on request, always with tags
-- repeated: refused
-- kept: index = "clustered"
-- macro: primary_key()
, PRIMARY KEY ({{ index_columns() }})
-- macro: index_hint()

-- layout: individual-series-index < individual
-- | row a reading, index on the series alone, as a foreign key brings it
-- measured: on request, always with entities
-- needs: tags
-- kept: index = "series"
-- macro: primary_key()
, KEY `by_series` ({{ key_names() }})
-- macro: every_series()
-- macro: one_by_one()
-- macro: index_hint()
IGNORE INDEX FOR GROUP BY (`by_series`)

-- layout: individual-foreign-key < individual-series-index
-- | the same with the foreign key itself: a reading without its entity is refused
-- measured: on request
-- needs: entities
-- kept: foreign_key = true
-- macro: primary_key()
{{ super() }}{% if entity %}, FOREIGN KEY ({{ entity_key() }}) REFERENCES {{ entity.table }} ({{ entity_key() }}){% endif %}

-- layout: individual-tags-inline < individual
-- | row a reading with all its tags in it
-- measured: on request
-- tags: inline

-- layout: individual-tags-in-table < individual
-- | row a reading with the series' number; tags in a table of their own
-- measured: on request
-- tags: in a table

-- layout: individual-concatenated < individual
-- | a batch is one string of INSERT statements between START TRANSACTION and COMMIT
-- measured: on request
-- kept: write = "concatenated_statements"
-- statements in a request: 10000

-- layout: individual-multi-row < individual
-- | a batch is one INSERT with many rows, as text
-- measured: on request
-- kept: write = "multi_row"
-- statement: insert -> literals
{{ super() }}

-- layout: individual-load-data < individual
-- | a batch is one LOAD DATA LOCAL INFILE, streamed from columns
-- measured: on request
-- kept: write = "fast_path"
-- statement: insert -> infile
LOAD DATA LOCAL INFILE 'batch' INTO TABLE {{ table }} CHARACTER SET {% if (fields + tags) | selectattr("kind", "eq", "text") | list %}utf8mb4{% else %}binary{% endif %} ({{ columns() }})

-- Among channels a row a channel is usual, and these are of it.
-- layout: channels < individual-row-per-field
-- | row a channel of a reading (second bigint, nanosecond int, number and measurement smallint unsigned), index on (second, nanosecond); one commit a reading
-- needs: channels
-- measured: usual

-- layout: channels-row-per-reading < individual
-- | row a reading (time bigint in ns, a column a field), index on (series, time)
-- needs: channels
-- measured: always

-- layout: channels-no-index < individual-row-per-field, individual-no-index
-- | the same rows without an index
-- needs: channels
-- macro: one_by_one()

-- layout: channels-concatenated < individual-row-per-field, individual-concatenated
-- | a batch is one string of INSERT statements, one a reading, between START TRANSACTION and COMMIT
-- needs: channels

-- layout: channels-multi-row < individual-row-per-field, individual-multi-row
-- | a batch is one INSERT with many rows, as text
-- needs: channels

-- layout: channels-load-data < individual-row-per-field, individual-load-data
-- | a batch is one LOAD DATA LOCAL INFILE, streamed from columns
-- needs: channels

-- layout: bulk
-- | row a span of a series (second bigint, size int unsigned, measurements json), index on second
-- family: span
-- measured: usual
-- kept: encoding = "json"
-- rows: records
-- macro: span()
{{ own("second") }}
-- macro: document()
r.{{ own("measurements") }}
-- macro: source()
{{ table }} r CROSS JOIN JSON_TABLE({{ document() }}, '$.measurements[*]' COLUMNS (`$ns` BIGINT PATH '$.ns'{% for field in chosen %}, `$f{{ field.number }}` {{ field.type }} PATH '$.m[{{ field.number }}]'{% endfor %})) j
-- macro: at()
(r.{{ span() }} * {{ span_ns }} + j.`$ns`)
-- macro: value(field)
j.`$f{{ field.number }}`
-- macro: in_range()
{{ in_spans() }} AND {{ in_time() }}
-- macro: order_time(direction)
r.{{ span() }}{{ direction }}, {{ at() }}{{ direction }}
-- macro: index_hint()
-- Whole records are answered, or arrays of the chosen fields, and the client takes readings out of them.
-- macro: records()
SELECT {{ answer_keys() }}r.{{ span() }},
{% if chosen | length == fields | length %}{{ document() }}
{% else %}JSON_EXTRACT({{ document() }}, '$.measurements[*].ns'){% for field in chosen %}, JSON_EXTRACT({{ document() }}, '$.measurements[*].m[{{ field.number }}]'){% endfor %}
{% endif %}
FROM {{ table }} r {{ where([selected(), in_spans()]) }} ORDER BY {{ answer_keys() }}r.{{ span() }}
-- statement: point -> {{ "json records" if chosen | length == fields | length else "json columns" }}
{{ records() }}
-- statement: range -> {{ "json records" if chosen | length == fields | length else "json columns" }}
{{ records() }}
-- statement: latest
-- statement: latest_times -> times
{{ latest_at() }}
-- statement: scan -> json records
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ span() }}, {{ document() }} FROM {{ table }} r
-- macro: definitions()
{{ series_definitions() }}{{ span() }} BIGINT NOT NULL, {{ own("size") }} INT UNSIGNED NOT NULL, {{ own("measurements") }} JSON NOT NULL
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}{{ span() }}
-- macro: columns()
{{ series_columns() }}{{ span() }}, {{ own("size") }}, {{ own("measurements") }}
-- macro: slots()
{{ series_slots() }}:span, :size, :json

-- layout: summary < individual
-- | row a reading, and a table of sums by series, period and part of the day, kept by INSERT … ON DUPLICATE KEY UPDATE in the same transaction
-- family: sums
-- measured: usual
-- macro: period()
{{ own("period") }}
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{{ create_sums() }} {{ options() }}
-- macro: incoming(column)
VALUES({{ column }})
-- A period may lack a field so far, and a write may lack it too.
-- macro: merged(part, kept, more, field)
{% if part == "count" %}{{ kept }} + {{ more }}
{% elif part == "sum" %}COALESCE({{ kept }} + {{ more }}, {{ kept }}, {{ more }})
{% else %}COALESCE({{ "LEAST" if part == "min" else "GREATEST" }}({{ kept }}, {{ more }}), {{ kept }}, {{ more }})
{% endif %}
-- macro: into_sums(values)
INSERT INTO {{ sums_table }} ({{ series_columns() }}{{ period() }}, {{ day() }}{{ sums_columns() }}) VALUES ({{ series_slots() }}{{ values }}) ON DUPLICATE KEY UPDATE {{ merge_sums() }}
-- Readings and what the client has added up of them are one transaction; a reading alone is one statement.
-- statement: write_many -> bulk
{{ insert_reading() }}
-- statement: add_sums -> bulk
{% if numeric %}{{ into_sums(":period, :day" ~ sums_slots()) }}{% endif %}
-- What is left of the time, before 1970 too.
-- macro: rest(unit)
((:time % {{ unit }} + {{ unit }}) % {{ unit }})
-- macro: one_in_sums()
:time - {{ rest(per_ns) }}, {{ rest(86400000000000) }} >= {{ day_start }} AND {{ rest(86400000000000) }} < {{ day_end }}
{% for field in numeric %}{% set value = ":field_" ~ field.number %}, {{ value }} IS NOT NULL, {{ value }}, {{ value }}, {{ value }}{% endfor %}
-- macro: reading_parts()
{{ insert_reading() }}{% if numeric %}; {{ into_sums(one_in_sums()) }}{% endif %}
-- statement: insert
{% if numeric %}{{ together(reading_parts()) }}{% else %}{{ insert_reading() }}{% endif %}

-- layout: summary-no-index < summary, individual-no-index
-- | the same without an index on the readings
-- measured: on request
-- kept: index = "none"
