// The host of every peer on .NET: Kestrel as it is by default, without log lines.
var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.WebHost.UseUrls("http://127.0.0.1:0");
Peer.AddServices(builder);
var app = builder.Build();
Peer.Map(app, "/webhooks/Services/WebHooks.asmx");
await app.StartAsync();
Console.WriteLine($"answers at {app.Urls.First()}/webhooks/Services/WebHooks.asmx");
await app.WaitForShutdownAsync();
