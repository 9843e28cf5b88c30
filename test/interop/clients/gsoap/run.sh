# C++ from the WSDL: wsdl2h reads it, soapcpp2 writes the proxy, once for each SOAP version.
wsdl2h -o webhook.h "$1" >/dev/null 2>&1
for version in 1 2; do
  mkdir "soap1$version"
  soapcpp2 -w "-$version" -C -j -x -L -d "soap1$version" webhook.h >/dev/null 2>&1
  (cd "soap1$version" && g++ -o client -I. "$here/client.cpp" soapC.cpp soapWebHookSoapProxy.cpp -lgsoap++)
  "soap1$version/client" "soap1$version"
done
