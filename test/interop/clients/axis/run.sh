lib=/usr/share/java
export CLASSPATH="$lib/axis.jar:$lib/jaxrpc.jar:$lib/saaj.jar:$lib/commons-logging.jar:$lib/commons-discovery.jar:$lib/wsdl4j.jar:."
java org.apache.axis.wsdl.WSDL2Java -p webhook "$1"
javac -nowarn -d . "$here/Client.java" webhook/*.java 2>/dev/null || javac -d . "$here/Client.java" webhook/*.java
java -Dfile.encoding=UTF-8 Client "$2"
