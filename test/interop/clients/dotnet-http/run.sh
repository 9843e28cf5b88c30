# Modern .NET with nothing but its own HTTP stack.
cp "$here/Client.cs" .
dotnet run --file Client.cs "${1%\?*}" "$2"
