#!/usr/bin/env bash
# What three people type in their first days, each step with its seconds: a .NET developer who leaves IIS, a developer of webhooks on a laptop,
# and an operator with PostgreSQL. A step that fails ends it. Needs curl, openssl, script (util-linux) and the clients of PostgreSQL:
#
#     npm run build && scripts/three-days.sh [postgres://user@host:port]
#
# It makes the databases days and days_copy there, and removes them.
set -euo pipefail
repository=$(cd "$(dirname "$0")/.." && pwd)
server=${1:-postgres://postgres@127.0.0.1:5432}
work=$(mktemp -d)
cd "$work"
port=18080 hook=13000 service=''
url=http://127.0.0.1:$port/webhooks/Services/WebHooks.asmx
table='' loads=''
events() { node "$repository/dist/main.js" events "$@"; }
compare() { node "$repository/dist/main.js" compare "$@"; }
stop() { if [ -n "$service" ]; then kill "$service"; wait "$service" || true; fi; service=''; }
trap 'stop; for each in $loads; do kill "$each" 2>/dev/null || true; done; rm -rf "$work"
  for name in days days_copy; do dropdb --if-exists --maintenance-db="$server/postgres" $name 2>/dev/null || true; done' EXIT

# step TEXT COMMAND…: runs it, prints what it says (at most 12 lines), and notes its seconds.
step() {
  local text=$1 began ended
  shift
  printf '\n== %s\n' "$text"
  began=$(date +%s.%N)
  if ! "$@" > output 2>&1; then cat output; echo "FAILED: $text"; tail -5 service.log; exit 1; fi
  ended=$(date +%s.%N)
  cut -c 1-160 output | head -12
  table+=$(printf '%7.2f s  %s' "$(echo "$ended - $began" | bc)" "$text")$'\n'
}
until_true() { for _ in $(seq 300); do if "$@"; then return 0; fi; sleep 0.1; done; return 1; }
start() {
  node "$repository/dist/main.js" > service.log 2>&1 &
  service=$!
  # Not `/readyz`: another service may have the port.
  until_true grep -q 'WebHook answers at' service.log && head -1 service.log
}
status() { curl -s -o answer -w '%{http_code}' "$@"; }
expect() { local got; got=$(status "${@:2}"); echo "$got"; [ "$got" = "$1" ]; }
holds() { grep -q "$1" output_of_tool; }
# On a terminal, as a person has it.
typed() { script -qec "node $repository/dist/main.js events $(printf '%q ' "$@")" /dev/null < /dev/null | tr -d '\r'; }
tool_says() { typed "${@:2}" > output_of_tool 2>&1 || true; cat output_of_tool; holds "$1"; }

# ---- (a) A .NET developer moves from IIS ------------------------------------------------------------------------------------------------
printf 'PORT=%s\n' $port > .env
# As a browser on the old machine saved it.
sed 's#{namespace}#http://tempuri.org/#g; s#{action \([A-Za-z]*\)}#http://tempuri.org/\1#g; s#{address}#http://old.example.com/webhooks/Services/WebHooks.asmx#g' "$repository/wsdl/WebHooks.wsdl" > old.wsdl
step 'settings from the old WSDL' compare settings old.wsdl --write .env
step 'start' start
step 'compare the old WSDL with the new service' compare old.wsdl "$url"
envelope() { echo "<s:Envelope xmlns:s=\"$1\"><s:Body><HelloWorld xmlns=\"http://tempuri.org/\"/></s:Body></s:Envelope>"; }
hello() { grep -q Hello answer && cat answer && echo; }
soap11() {
  expect 200 "$url" -H 'Content-Type: text/xml' -H 'SOAPAction: "http://tempuri.org/HelloWorld"' \
    -d "$(envelope http://schemas.xmlsoap.org/soap/envelope/)" && hello
}
soap12() { expect 200 "$url" -H 'Content-Type: application/soap+xml' -d "$(envelope http://www.w3.org/2003/05/soap-envelope)" && hello; }
get() { expect 200 "$url/HelloWorld" && hello; }
post() { expect 200 "$url/HelloWorld" -d '' && hello; }
for binding in soap11 soap12 get post; do step "HelloWorld over $binding" $binding; done
step 'RecordEvent' curl -fsS "$url/RecordEvent" -H 'Content-Type: application/json' -d '{"order":19,"customer":"Ada Lovelace"}'
step 'GetEvents' curl -fsS -H 'Accept: application/json' "$url/GetEvents?limit=1"
stop

# ---- (b) A developer of webhooks on a laptop ----------------------------------------------------------------------------------------------
echo 'WEBHOOK_SECRETS=a-secret-of-github' >> .env
step 'start again, with the secret of GitHub' start
github() { # EVENT DELIVERY SECRET
  local body='{"action":"opened","repository":{"full_name":"ada/engine"}}'
  expect "$4" "$url/RecordEvent" -H "X-GitHub-Event: $1" -H "X-GitHub-Delivery: $2" -H 'Content-Type: application/json' -d "$body" \
    -H "X-Hub-Signature-256: sha256=$(printf %s "$body" | openssl dgst -sha256 -hmac "$3" | sed 's/.* //')"
}
step 'a webhook that GitHub signed' github issues delivery-1 a-secret-of-github 200
step 'another one' github pull_request delivery-2 a-secret-of-github 200
step 'one with a wrong signature is refused' github push delivery-3 guessed 401
step 'print --from-sender github' tool_says com.github.issues print --from-sender github
step "print --type 'com.github.*'" tool_says com.github.pull_request print --type 'com.github.*'
step 'a filter that finds nothing' tool_says 'None of the 3 events' print --type 'com.gitlab.*'
handler() {
  node -e 'let calls = 0; require("http").createServer((request, response) => { request.resume(); response.statusCode = ++calls > 2 ? 200 : 503;
    response.end(); if (calls > 2) require("fs").appendFileSync("handled", calls + "\n"); }).listen(+process.argv[1], "127.0.0.1")' $hook &
  loads+=" $!"
}
late() {
  script -qfc "node $repository/dist/main.js events forward $hook --follow --since 0 --type 'com.github.*'" terminal.log > /dev/null 2>&1 < /dev/null &
  local forwarder=$! began
  sleep 4
  began=$(date +%s.%N)
  handler
  until_true test -s handled
  echo "The handler started 4 s late and failed twice; it had the event $(echo "$(date +%s.%N) - $began" | bc) s after its start."
  until_true sh -c 'test "$(wc -l < handled)" = 2'
  kill $forwarder
  grep -v '^Script' terminal.log | tr -d '\r'
}
step 'forward to a handler that starts late and fails twice' late
step 'print the event' tool_says com.github.issues print --json --type 'com.github.issues.*'
step 'send it again' events forward $hook --event 2
stop

# ---- (c) An operator with PostgreSQL --------------------------------------------------------------------------------------------------------
for i in $(seq 20); do echo "{\"specversion\":\"1.0\",\"id\":\"old-$i\",\"source\":\"/old\",\"type\":\"old\"}"; done > old.ndjson
step 'import into SQLite' events import old.ndjson
step 'export from SQLite' events export all.ndjson
step 'verify and back up SQLite' sh -c "node $repository/dist/main.js events verify && node $repository/dist/main.js events backup copy.db"
step 'make a database' psql -qX "$server/postgres" -c 'CREATE DATABASE days'
cat > .env <<END
PORT=$port
EVENT_LOG=$server/days
RECORD_KEYS_FILE=record.keys
READ_KEYS_FILE=read.keys
END
printf 'shop shop-key-number-1\ncrm crm-key-number-100\n' > record.keys
echo 'desk read-key-number-10' > read.keys
step 'start on PostgreSQL, with keys that have names' start
step 'import into PostgreSQL' events import all.ndjson
load() { curl -s -o /dev/null -w '%{http_code}\n' "$url/RecordEvent?call=[1-3000]" -H 'X-API-Key: crm-key-number-100' -d x >> codes; }
took() { until_true sh -c "test \"\$(curl -s -o /dev/null -w '%{http_code}' '$url/RecordEvent' -H 'X-API-Key: $2' -d x)\" = $1"; }
replace() {
  load & local loading=$!
  until_true test -s codes
  printf 'shop shop-key-number-2\ncrm crm-key-number-100\n' > record.keys
  kill -HUP "$service"
  took 200 shop-key-number-2 && took 401 shop-key-number-1 || return 1
  kill -0 $loading && wait $loading
  echo "The new key is taken, the old one refused. Calls of another key meanwhile, by status:"
  sort codes | uniq -c
  ! grep -qv 200 codes
}
step 'replace a key with SIGHUP under load' replace
count() { curl -s "$url/GetEvents" -H 'X-API-Key: read-key-number-10' -H 'Accept: application/json' -G -d after=0 -d limit=100 | grep -o '"specversion"' | wc -l; }
retain() { echo 'RETENTION_MAX_EVENTS=30' >> .env; kill -HUP "$service"; until_true sh -c "test \"\$(psql -qXAt '$server/days' -c 'SELECT count(*) FROM webhook_events')\" = 30"; echo "$(count) events are left."; }
step 'record an event of a person' curl -fsS "$url/RecordEvent" -H 'X-API-Key: shop-key-number-2' -d 'Ada Lovelace, London'
step 'retention of 30 events with SIGHUP' retain
step 'forget --text --dry-run' events forget --text 'Ada Lovelace' --dry-run
step 'forget --text' events forget --text 'Ada Lovelace'
step 'verify' events verify
copy() { psql -qX "$server/postgres" -c 'CREATE DATABASE days_copy' && pg_dump "$server/days" | psql -qX "$server/days_copy" > /dev/null && EVENT_LOG=$server/days_copy events verify; }
step 'back up with pg_dump, and verify the copy' copy
step 'version' events --version
stop
printf '\n%s' "$table"
