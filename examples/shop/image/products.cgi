#!/bin/sh
# GET /cgi-bin/products: what the shop sells, and who answered.
# shellcheck disable=SC3028 # the kubelet sets HOSTNAME, whatever the shell
answer=$(psql --no-psqlrc --tuples-only --no-align --set=pod="$HOSTNAME" --set=schema="$SCHEMA" <<'SQL'
select jsonb_build_object('pod', :'pod', 'schema', :schema, 'products', (select jsonb_agg(p order by p.id) from products p));
SQL
) && [ -n "$answer" ] || { printf 'Status: 503 Service Unavailable\r\nContent-Type: text/plain\r\n\r\nno answer from the database\n'; exit 0; }
printf 'Content-Type: application/json\r\n\r\n%s\n' "$answer"
