#!/usr/bin/env bash
set -euo pipefail
lib=/usr/share/java
export CLASSPATH="$lib/axis.jar:$lib/jaxrpc.jar:$lib/saaj.jar:$lib/commons-logging.jar:$lib/commons-discovery.jar:$lib/wsdl4j.jar:."
java org.apache.axis.wsdl.WSDL2Java -W -p webhook "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended"
javac Program.java webhook/*.java
java Program
