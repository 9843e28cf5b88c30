# Names what is missing, if anything: a tool that reads the WSDL, and WCF's client packages from NuGet.
dotnet tool install dotnet-svcutil --tool-path tools >install.log 2>&1 || command -v svcutil >/dev/null ||
  echo "NuGet package dotnet-svcutil, or Mono's svcutil (mono-devel)"
cp "$here/client.csproj" .
dotnet restore >restore.log 2>&1 || { grep -o 'Unable to find package [^ ]*[^. ]' restore.log | sort -u | sed 's/.* /NuGet package /'; }
