export CLASSPATH="/usr/share/jaxws/lib/*:/usr/share/java/*:."
java com.sun.tools.ws.WsImport -extension -quiet -Xnocompile -keep -p webhook "$1"
javac -nowarn -d . "$here/Client.java" webhook/*.java 2>/dev/null || javac -d . "$here/Client.java" webhook/*.java
java -Dfile.encoding=UTF-8 Client "$2" "$3"
