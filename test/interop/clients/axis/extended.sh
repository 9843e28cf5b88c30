#!/usr/bin/env bash
# Without -W, WSDL2Java 1.4 leaves out the class of an operation's argument that is any XML.
set -euo pipefail
here=$(dirname "$0")
lib=/usr/share/java
export CLASSPATH="$lib/axis.jar:$lib/jaxrpc.jar:$lib/saaj.jar:$lib/commons-logging.jar:$lib/commons-discovery.jar:$lib/wsdl4j.jar:."
java org.apache.axis.wsdl.WSDL2Java -W -p webhook "$1"
javac -nowarn -d . "$here/Extended.java" webhook/*.java 2>/dev/null || javac -d . "$here/Extended.java" webhook/*.java
java -Dfile.encoding=UTF-8 Extended "$2"
