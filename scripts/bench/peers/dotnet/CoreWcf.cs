using CoreWCF.Configuration;

/// <summary>CoreWCF as its walkthrough shows it.</summary>
static class Peer
{
    public static void AddServices(WebApplicationBuilder builder)
    {
        builder.WebHost.ConfigureKestrel(options => options.AllowSynchronousIO = true);
        builder.Services.AddServiceModelServices();
    }

    public static void Map(WebApplication app, string path) => app.UseServiceModel(services =>
    {
        services.AddService<WebHook>();
        services.AddServiceEndpoint<WebHook, IWebHook>(new BasicHttpBinding(), path);
    });
}
