# The functions of the example over every binding. Each answer must be XML, say its length, and fit a WCF client's default limit.
. <(sed '/^httppost RecordEvent/,$d' "$here/../../../../examples/curl/run.sh")
url=${1%\?*}
text=$2
more=()
call() { curl -sS "${more[@]}" "$@"; }

show() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }

# Calls an operation over a binding with further options of curl.
with() {
  more=("${@:3}")
  "$1" "$2" ''
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
  show "$binding" size "$(with "$binding" GetEvents -o answer.xml -w '%{size_download}')"
  # HTTP/1.0 has no chunks: without a length a client cannot tell a whole answer from one cut short.
  show "$binding" length "$(with "$binding" HelloWorld --http1.0 -o answer.xml -w '%{size_download} %header{content-length}')"
done
show soap11 fault "fault $(soap11 Unknown '' | text_of '//faultcode' | sed 's/.*://'): $(soap11 Unknown '' | text_of '//faultstring')"
show soap12 fault "fault $(soap12 Unknown '' | text_of '//*[local-name()="Value"]' | sed 's/.*://'): $(soap12 Unknown '' | text_of '//*[local-name()="Text"]')"
for binding in httpget httppost; do
  show "$binding" fault "$(with "$binding" Unknown -o answer.txt -w '%{http_code} ')$(head -n 1 answer.txt)"
done
