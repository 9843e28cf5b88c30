using System.Text;

/// <summary>A minimal API that reads the body and writes the bytes of ANSWER, as the limit does on Node.</summary>
static class Peer
{
    static readonly byte[] Answer = Encoding.UTF8.GetBytes(Environment.GetEnvironmentVariable("ANSWER")!);

    public static void AddServices(WebApplicationBuilder builder) { }

    public static void Map(WebApplication app, string path) => app.MapPost(path, async context =>
    {
        await context.Request.Body.CopyToAsync(Stream.Null);
        context.Response.Headers.CacheControl = "private, max-age=0";
        context.Response.ContentType = "text/xml; charset=utf-8";
        context.Response.ContentLength = Answer.Length;
        await context.Response.BodyWriter.WriteAsync(Answer);
    });
}
