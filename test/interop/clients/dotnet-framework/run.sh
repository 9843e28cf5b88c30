# One proxy for each protocol, as Visual Studio's "Add Web Reference" makes it, and one program that uses the four.
for protocol in SOAP SOAP12 HttpGet HttpPost; do
  wsdl -nologo -protocol:"$protocol" -namespace:"Proxy.$protocol" -out:"$protocol.cs" "$1" >/dev/null
done
mcs -nologo -r:System.Web.Services -r:System.EnterpriseServices -r:Microsoft.CSharp -out:client.exe "$here/Client.cs" SOAP.cs SOAP12.cs HttpGet.cs HttpPost.cs
mono client.exe
