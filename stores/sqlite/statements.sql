-- SQLite. What is not here is in standard.sql.

-- Readings of one time come in the order in which they were written.
-- macro: copy_order()
r._rowid_
-- macro: after_time(direction)
, {{ copy_order() }}{{ direction }}
-- macro: members()
{% for key in keys %}value ->> {{ loop.index0 }}{% if not loop.last %}, {% endif %}{% endfor %}
-- macro: in_set()
{% if keys | length == 1 %}r.{{ keys[0] }} IN (SELECT value FROM json_each(:set))
{% else %}({{ key_names("r.") }}) IN (SELECT {{ members() }} FROM json_each(:set)){% endif %}
-- macro: every_series()
{% if tags_table %}r.{{ keys[0] }} IN (SELECT {{ keys[0] }} FROM {{ tags_table }}){% endif %}
-- macro: mean_of_sums(field)
sum(r.{{ sums_column(field, "sum") }}) * 1.0 / nullif(sum(r.{{ sums_column(field, "count") }}), 0)
-- Without square roots (https://www.sqlite.org/lang_mathfunc.html: an option of its build) the client answers these.
-- statement: standard_deviation
-- statement: correlation
-- statement: nearest
-- statement: z_scores
-- macro: share(value, held)
total(CASE WHEN {{ value }} THEN {{ held }} END) / total({{ held }})

-- statement: point
{{ super() }} ORDER BY {{ answer_keys() }}{{ copy_order() }}

-- Series by series, so that each is one look into the index; without a table of tags the index is walked from one series to the next.
-- macro: each_series()
{% if of == "one" %}(SELECT {% for key in keys %}{{ key.slot }} AS {{ key }}{% if not loop.last %}, {% endif %}{% endfor %}) s
{% elif of == "tagged" and not tags_table and keys | length == 1 and keys[0].number == tag.number %}(SELECT :tag AS {{ tag }}) s
{% elif of == "tagged" %}(SELECT DISTINCT {{ key_names() }} FROM {{ tags_table or table }} WHERE {{ tag }} = :tag) s
{% elif tags_table %}{{ tags_table }} s
{% elif keys | length > 1 %}(SELECT {% for key in keys %}value ->> {{ loop.index0 }} AS {{ key }}{% if not loop.last %}, {% endif %}{% endfor %} FROM json_each(:all)) s
{% else %}{% set key = keys[0] %}(WITH RECURSIVE step({{ key }}) AS (SELECT min({{ key }})
FROM {{ table }} UNION ALL SELECT (SELECT min({{ key }})
FROM {{ table }} WHERE {{ key }} > step.{{ key }}) FROM step WHERE step.{{ key }} IS NOT NULL) SELECT {{ key }} FROM step WHERE {{ key }} IS NOT NULL) s{% endif %}
-- macro: latest_of_each()
{{ at() }} = (SELECT max({{ at() }}) FROM {{ source() }} {{ where([in_range(), same_series(), any_present()]) }})
-- statement: latest
{% if of == "one" or not keys %}
{{ super() }}
{% else %}
SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ each_series() }} CROSS JOIN {{ source() }}
{{ where([same_series(), latest_of_each(), any_present()]) }}
ORDER BY {{ answer_keys() }}{{ at() }}{{ after_time("") }}
{% endif %}
-- statement: matching
{% if keys %}
SELECT {{ key_names("s.") }} FROM {{ each_series() }}
WHERE EXISTS (SELECT 1 FROM {{ source() }} {{ where([in_range(), passes(), same_series()]) }})
{% else %}
{{ super() }}
{% endif %}

-- macro: options()
STRICT
-- statement: create
{{ super() }} {{ options() }}
-- statement: create_tags
{{ super() }} STRICT
-- statement: create_entities
{{ super() }} STRICT
-- statement: index
{% if index_columns() %}CREATE INDEX "{{ bare_table }} by series and time" ON {{ table }} ({{ index_columns() }}){% endif %}
-- statement: index_tags
{% for tag in all_tags %}CREATE INDEX "{{ bare_tags_table }} by {{ tag.bare }}" ON {{ tags_table }} ({{ tag }}); {% endfor %}

-- layout: individual
-- | STRICT rowid table, a row a reading: series, time_ns INTEGER, a column a field; index (series, time_ns)
-- family: reading
-- measured: usual

-- layout: individual-clustered < individual
-- | the same row WITHOUT ROWID, PRIMARY KEY (series, time_ns, copy): one b-tree in place of table and index
-- measured: always
-- kept: index = "clustered"
-- macro: copy_order()
r.{{ own("copy") }}
-- macro: options()
STRICT, WITHOUT ROWID
-- macro: after_time_column()
, {{ own("copy") }} INTEGER NOT NULL
-- macro: columns()
{{ series_columns() }}{{ time }}, {{ own("copy") }}{% for field in fields %}, {{ field }}{% endfor %}
-- macro: copy_number()
0
-- macro: slots()
{{ series_slots() }}:time, {{ copy_number() }}{% for field in fields %}, :field_{{ field.number }}{% endfor %}
-- macro: primary_key()
, PRIMARY KEY ({{ index_columns() }}, {{ own("copy") }})
-- statement: index
-- A reading that is there already is written again as the next copy.
-- statement: insert_repeated
INSERT INTO {{ table }} ({{ columns() }}) VALUES ({{ series_slots() }}:time,
(SELECT max({{ own("copy") }}) + 1 FROM {{ table }} WHERE {% for key in keys %}{{ key }} = {{ key.slot }} AND {% endfor %}{{ time }} = :time)
{% for field in fields %}, :field_{{ field.number }}{% endfor %})

-- layout: individual-series-index < individual
-- | rowid table whose only index is on the series, as a foreign key would have it
-- measured: on request, always with entities
-- needs: tags
-- kept: index = "series"
-- macro: index_columns()
{{ key_names() }}

-- layout: individual-no-index < individual
-- | rowid table without an index: every question reads the whole table
-- measured: on request
-- kept: index = "none"
-- macro: every_series()
-- statement: index
-- One look at all rows serves all series.
-- statement: latest
{% if of == "one" or not keys %}
{{ super() }}
{% else %}
SELECT {{ answer_keys() }}{{ at() }}{{ values(chosen) }} FROM {{ source() }}
WHERE ({{ key_names("r.") }}, {{ at() }}) IN (
  SELECT {{ key_names("r.") }}, max({{ at() }}) FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} GROUP BY {{ key_names("r.") }})
{% if any_present() %}AND {{ any_present() }}{% endif %}
ORDER BY {{ answer_keys() }}{{ at() }}{{ after_time("") }}
{% endif %}
-- statement: matching
{{ matching_at_once() }}

-- layout: individual-row-per-field < individual
-- | rowid table, a row a value: series, time_ns, field INTEGER, value ANY; index (series, time_ns)
-- measured: on request
-- kept: shape = "row_per_field"
-- rows: fields
-- macro: of_fields()
r.{{ own("field") }} IN ({{ chosen | map(attribute="number") | join(", ") }}) AND r.{{ own("value") }} IS NOT NULL
-- macro: in_range()
{{ of_fields() }} AND {{ in_time() }}
-- macro: value(field)
{% if chosen | length == 1 %}r.{{ own("value") }}{% else %}CASE WHEN r.{{ own("field") }} = {{ field.number }} THEN r.{{ own("value") }} END{% endif %}
-- macro: any_present()
-- macro: field_rows(from, conditions)
SELECT {{ answer_keys() }}{{ at() }}, r.{{ own("field") }}, r.{{ own("value") }} FROM {{ from }} {{ where(conditions) }}
ORDER BY {{ answer_keys() }}{{ at() }}{{ after_time("") }}
-- statement: point -> field rows
{{ field_rows(source(), [selected(), at_time(), of_fields()]) }}
-- statement: range -> field rows
{{ field_rows(source(), [selected(), in_time(), of_fields()]) }}
-- statement: latest -> field rows
{% if of == "one" or not keys %}
{{ field_rows(source(), [selected(), at() ~ " = (SELECT max(" ~ at() ~ ") FROM " ~ source() ~ " " ~ where([in_range(), selected()]) ~ ")", of_fields()]) }}
{% else %}
{{ field_rows(each_series() ~ " CROSS JOIN " ~ source(), [same_series(), latest_of_each(), of_fields()]) }}
{% endif %}
-- Fields of one reading are rows: the client puts them together.
-- statement: rows_by_value
-- statement: cross_mean
-- Rows of one reading were written together.
-- statement: scan -> field rows
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}{{ at() }}, r.{{ own("field") }}, r.{{ own("value") }} FROM {{ source() }} ORDER BY {{ copy_order() }}
-- macro: definitions()
{{ series_definitions() }}{{ time }} {{ time_type }} NOT NULL, {{ own("field") }} INTEGER NOT NULL, {{ own("value") }} ANY
-- macro: columns()
{{ series_columns() }}{{ time }}, {{ own("field") }}, {{ own("value") }}
-- macro: slots()
{{ series_slots() }}:time, :field, :value

-- layout: individual-multi-row < individual
-- | the usual table, written by INSERT … VALUES (…), (…), … of up to 1,000 rows
-- measured: on request
-- kept: write = "multi_row"
-- rows in a statement: 1000

-- layout: individual-concatenated < individual
-- | the usual table, written by single INSERTs in one string, parsed anew each time
-- measured: on request
-- kept: write = "concatenated_statements"
-- statements in a request: 10000

-- layout: individual-tags-inline < individual
-- | the usual layout with every tag in every row
-- measured: on request
-- tags: inline

-- layout: individual-tags-in-table < individual
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table

-- layout: bulk
-- | a row a span: series, span, size, data TEXT {"measurements":[{"ns":…,"m":[…]},…]}; index (series, span)
-- family: span
-- measured: usual
-- kept: encoding = "json"
-- rows: records
-- some fields: the fields share one record; it is read whole and the chosen fields are decoded
-- macro: data()
{{ own("data") }}
-- macro: source()
{{ table }} r CROSS JOIN json_each(r.{{ data() }}, '$.measurements') AS e
-- macro: at()
(r.{{ span() }} * {{ span_ns }} + (e.value ->> '$.ns'))
-- macro: value(field)
(e.value ->> '$.m[{{ field.number }}]')
-- macro: in_range()
{{ in_spans() }} AND {{ in_time() }}
-- macro: after_time(direction)
, r._rowid_{{ direction }}, e.key{{ direction }}
-- macro: order_time(direction)
r.{{ span() }}{{ direction }}, {{ at() }}{{ direction }}
-- Whole records are answered, and the client takes readings out of them.
-- macro: document()
r.{{ data() }}
-- macro: records()
SELECT {{ answer_keys() }}r.{{ span() }}, {{ document() }} FROM {{ table }} r
{{ where([selected(), in_spans()]) }}
ORDER BY {{ answer_keys() }}r.{{ span() }}, r._rowid_
-- statement: point -> json records
{{ records() }}
-- statement: range -> json records
{{ records() }}
-- statement: latest
-- macro: latest_time(condition)
SELECT {{ at() }} FROM {{ source() }} {{ where([in_range(), condition, any_present()]) }} ORDER BY {{ order_time(" DESC") }} LIMIT 1
-- statement: latest_times -> times
{% if of == "one" or not keys %}{{ latest_time(selected()) }}{% else %}SELECT {{ key_names("s.") }}, ({{ latest_time(same_series()) }}) FROM {{ each_series() }}{% endif %}
-- statement: scan -> json records
SELECT {% for key in keys %}r.{{ key }}, {% endfor %}r.{{ span() }}, {{ document() }} FROM {{ table }} r
-- macro: data_type()
TEXT
-- macro: definitions()
{{ series_definitions() }}{{ span() }} INTEGER NOT NULL, {{ own("size") }} INTEGER NOT NULL, {{ data() }} {{ data_type() }} NOT NULL
-- macro: index_columns()
{% if keys %}{{ key_names() }}, {% endif %}{{ span() }}
-- macro: columns()
{{ series_columns() }}{{ span() }}, {{ own("size") }}, {{ data() }}
-- macro: record()
:json
-- macro: slots()
{{ series_slots() }}:span, :size, {{ record() }}

-- layout: bulk-blob < bulk
-- | a row a span: series, span, size, data BLOB of little-endian columns that the client packs; index (series, span)
-- measured: on request
-- kept: encoding = "blob"
-- in the client: SQLite does not look into a packed record; records are read and searched in the client
-- macro: data_type()
BLOB
-- macro: record()
:packed
-- statement: first
-- statement: last
-- statement: minimum
-- statement: latest_times
-- statement: matching
-- statement: rows_by_value
-- statement: out_of_range
-- statement: difference
-- statement: cross_mean
-- statement: segments
-- statement: aggregate
-- statement: last_values
-- statement: shares
-- statement: most_frequent_values

-- layout: bulk-jsonb < bulk
-- | a row a span with SQLite's own parsed JSON (JSONB), read back by json(data); index (series, span)
-- measured: on request
-- kept: encoding = "binary_json"
-- macro: data_type()
BLOB
-- macro: record()
jsonb(:json)
-- macro: document()
json(r.{{ data() }})

-- layout: bulk-no-index < bulk
-- | a row a span with JSON text and no index
-- measured: on request
-- kept: index = "none"
-- macro: every_series()
-- statement: index
-- statement: latest_times -> times
{% if of == "one" or not keys %}{{ latest_time(selected()) }}
{% else %}SELECT {{ key_names("r.") }}, max({{ at() }}) FROM {{ source() }} {{ where([in_range(), selected(), any_present()]) }} GROUP BY {{ key_names("r.") }}{% endif %}
-- statement: matching
{{ matching_at_once() }}

-- layout: bulk-tags-inline < bulk
-- | the usual layout with every tag in every row
-- measured: on request
-- tags: inline

-- layout: bulk-tags-in-table < bulk
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table

-- layout: summary < individual
-- | rowid table, a row a reading, index (series, time_ns); in the same transaction count, sum, min, max of each field by series, period, day or night
-- family: sums
-- measured: usual
-- statement: sums
{{ read_sums() }}
-- statement: create_sums
{{ create_sums() }} STRICT, WITHOUT ROWID
-- macro: sums_type(field, part)
{{ types.i64 if part == "sum" and field.kind != "f64" else field.type }}{% if part == "sum" and not field.nullable %} NOT NULL{% endif %}
-- Run in the transaction of the readings, for each period that they touch; the client has added the batch up.
-- statement: add_sums
INSERT INTO {{ sums_table }} ({{ series_columns() }}{{ period() }}, {{ day() }}{{ sums_columns() }}) VALUES ({{ series_slots() }}:period, :day{{ sums_slots() }})
ON CONFLICT ({{ sums_key() }}) DO {% if numeric %}UPDATE SET {{ merge_sums() }}{% else %}NOTHING{% endif %}
-- Its min and max of two values are NULL where one is.
-- macro: merged(part, kept, more, field)
{% if part == "count" or part == "sum" and not field.nullable %}{{ kept }} + {{ more }}
{% elif part == "sum" %}coalesce({{ kept }} + {{ more }}, {{ kept }}, {{ more }})
{% else %}{{ part }}(ifnull({{ kept }}, {{ more }}), ifnull({{ more }}, {{ kept }}))
{% endif %}

-- layout: summary-clustered < summary, individual-clustered
-- | the same with readings WITHOUT ROWID, PRIMARY KEY (series, time_ns, copy)
-- measured: on request

-- layout: summary-no-index < summary, individual-no-index
-- | the same without an index on the readings; the sums keep theirs
-- measured: on request

-- layout: summary-tags-inline < summary
-- | the usual layout with every tag in every row
-- measured: on request
-- tags: inline

-- layout: summary-tags-in-table < summary
-- | the usual layout with tags in a table of their own, readings refer to it by number
-- measured: on request
-- tags: in a table
