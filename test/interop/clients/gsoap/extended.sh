#!/usr/bin/env bash
set -euo pipefail
here=$(dirname "$0")
wsdl2h -o webhook.h "$1" >/dev/null 2>&1
for version in 1 2; do
  mkdir "soap1$version"
  soapcpp2 -w "-$version" -C -j -x -L -d "soap1$version" webhook.h >/dev/null 2>&1
  (cd "soap1$version" && g++ -o client -I. "$here/extended.cpp" soapC.cpp soapWebHookSoapProxy.cpp -lgsoap++)
  "soap1$version/client" "soap1$version" "$2"
done
