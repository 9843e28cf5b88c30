using SoapCore;

/// <summary>SoapCore as its README shows it, with the serializer that it recommends for clients of ASMX services.</summary>
static class Peer
{
    public static void AddServices(WebApplicationBuilder builder)
    {
        builder.Services.AddSoapCore();
        builder.Services.AddSingleton<IWebHook, WebHook>();
    }

    public static void Map(WebApplication app, string path) =>
        ((IApplicationBuilder)app).UseSoapEndpoint<IWebHook>(path, new SoapEncoderOptions(), SoapSerializer.XmlSerializer);
}
