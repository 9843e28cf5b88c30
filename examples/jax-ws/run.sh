#!/usr/bin/env bash
set -euo pipefail
export CLASSPATH="/usr/share/jaxws/lib/*:/usr/share/java/*:."
java com.sun.tools.ws.WsImport -extension -Xnocompile -p webhook "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended"
javac Program.java webhook/*.java
java Program
