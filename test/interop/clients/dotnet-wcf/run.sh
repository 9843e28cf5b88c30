# WCF on modern .NET, with the program of the client "wcf". Its packages come from NuGet.
if dotnet tool install dotnet-svcutil --tool-path tools >install.log 2>&1; then
  tools/dotnet-svcutil "$1" --sync --outputFile "$PWD/Reference.cs" --namespace '*,ServiceReference' >/dev/null
else
  svcutil -n:ServiceReference -out:Reference.cs "$1" >/dev/null
  # As for the client "wcf". Modern .NET has no endpoints that are configured by name.
  sed -i 's/Action="\*", ReplyAction="\([^"]*\)"/Action="\1", ReplyAction="*"/' Reference.cs
  perl -0pi -e 's/public \w+\(string endpointConfigurationName[^{]*\{\s*\}//g' Reference.cs
fi
cp "$here/client.csproj" "$here/../wcf/Client.cs" .
dotnet run -- "${1%\?*}" "$2"
