#!/usr/bin/env bash
# The requests of the WSDL by hand. Each answer must be XML, say its length, and fit a WCF client's default limit.
set -euo pipefail
url=${1%\?*}
text=$2
namespace=http://tempuri.org/

show() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }

soap11() {
  curl --silent --show-error "$url" \
    -H 'Content-Type: text/xml; charset=utf-8' \
    -H "SOAPAction: \"${namespace%/}/$1\"" \
    -d "<s:Envelope xmlns:s=\"http://schemas.xmlsoap.org/soap/envelope/\"><s:Body><$1 xmlns=\"$namespace\">$2</$1></s:Body></s:Envelope>" "${@:3}"
}
soap12() {
  curl --silent --show-error "$url" \
    -H 'Content-Type: application/soap+xml; charset=utf-8' \
    -d "<s:Envelope xmlns:s=\"http://www.w3.org/2003/05/soap-envelope\"><s:Body><$1 xmlns=\"$namespace\">$2</$1></s:Body></s:Envelope>" "${@:3}"
}
httpget() {
  curl --silent --show-error --get "$url/$1" ${2:+--data-urlencode "$2"} "${@:3}"
}
httppost() {
  curl --silent --show-error "$url/$1" --data-urlencode "$2" "${@:3}"
}

# The text of the one element that holds the result, or of a fault's message.
text_of() { xmllint --noblanks --xpath "string($1)" -; }

for binding in soap11 soap12 httpget httppost; do
  for operation in HelloWorld RecordEvent; do
    show "$binding" "$operation" "$("$binding" "$operation" '' | text_of '/*')"
  done
  case $binding in
    soap*) payload="<note>$(sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g' <<<"$text")</note>" ;;
    http*) payload="note=$text" ;;
  esac
  show "$binding" payload "$("$binding" RecordEvent "$payload" | text_of '/*')"
  show "$binding" GetEvents "$("$binding" GetEvents '' | text_of '/*')"
  show "$binding" size "$("$binding" GetEvents '' -o answer.xml -w '%{size_download}')"
  # HTTP/1.0 has no chunks: without a length a client cannot tell a whole answer from one cut short.
  show "$binding" length "$("$binding" HelloWorld '' --http1.0 -o answer.xml -w '%{size_download} %header{content-length}')"
done
show soap11 fault "fault $(soap11 Unknown '' | text_of '//faultcode' | sed 's/.*://'): $(soap11 Unknown '' | text_of '//faultstring')"
show soap12 fault "fault $(soap12 Unknown '' | text_of '//*[local-name()="Value"]' | sed 's/.*://'): $(soap12 Unknown '' | text_of '//*[local-name()="Text"]')"
show httpget fault "$(httpget Unknown '' -o answer.txt -w '%{http_code} ')$(head -n 1 answer.txt)"
show httppost fault "$(httppost Unknown '' -o answer.txt -w '%{http_code} ')$(head -n 1 answer.txt)"
