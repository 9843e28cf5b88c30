#!/usr/bin/env bash
set -euo pipefail
url=http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx
namespace=http://tempuri.org/
key=YOUR-KEY
call() { curl -fsS -H "X-API-Key: $key" "$@"; }

soap11() {
  call "$url" \
    -H 'Content-Type: text/xml; charset=utf-8' \
    -H "SOAPAction: \"${namespace%/}/$1\"" \
    -d "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><$1 xmlns=\"$namespace\">$2</$1></s:Body></s:Envelope>"
}
soap12() {
  call "$url" \
    -H 'Content-Type: application/soap+xml; charset=utf-8' \
    -d "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body><$1 xmlns=\"$namespace\">$2</$1></s:Body></s:Envelope>"
}
httpget() {
  call -G "$url/$1" ${2:+--data-urlencode "$2"}
}
httppost() {
  call "$url/$1" --data-urlencode "$2"
}

httppost RecordEvent 'note=text'
soap12 RecordEvent '<note>text</note>'

events() {
  local query=()
  for parameter in "$@"; do query+=(--data-urlencode "$parameter"); done
  call -G -H 'Accept: application/json' "$url/GetEvents" "${query[@]}"
}
after=0
while page=$(events "after=$after" limit=100) && [ "$page" != '[]' ]; do
  echo "$page"
  after=$(grep -o '"sequence":"[0-9]*"' <<<"$page" | tail -n 1 | tr -dc 0-9)
done
events "after=$after" wait=30s
