# A WCF client with the binding limits that a new one has (65,536 bytes a message).
svcutil -out:Proxy.cs "$1" >/dev/null
# Mono's svcutil writes the request's action where the reply's belongs; Microsoft's does not.
sed -i 's/Action="\*", ReplyAction="\([^"]*\)"/Action="\1", ReplyAction="*"/' Proxy.cs
mcs -nologo -r:System.ServiceModel -r:System.Runtime.Serialization -out:client.exe "$here/Client.cs" Proxy.cs
mono client.exe "${1%\?*}" "$2"
