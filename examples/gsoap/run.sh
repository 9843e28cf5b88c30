#!/usr/bin/env bash
set -euo pipefail
wsdl2h -o webhook.h "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended"
soapcpp2 -1 -C -j -x webhook.h
g++ -o program program.cpp soapC.cpp soapWebHookSoapProxy.cpp -lgsoap++
./program
