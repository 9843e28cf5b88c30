using System.Text.Json;
using System.Xml.Linq;

const string Address = "http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx";
using var http = new HttpClient();
http.DefaultRequestHeaders.Add("X-API-Key", "YOUR-KEY");

Console.WriteLine(await Ask("RecordEvent", ("note", "text")));

string after = "0", page;
while ((page = await Ask("GetEvents", ("after", after), ("limit", "100"))) != "[]")
{
    Console.WriteLine(page);
    using var events = JsonDocument.Parse(page);
    after = events.RootElement.EnumerateArray().Last().GetProperty("sequence").GetString()!;
}
Console.WriteLine(await Ask("GetEvents", ("after", after), ("wait", "30s")));

async Task<string> Ask(string operation, params (string Name, string Value)[] fields)
{
    var form = new FormUrlEncodedContent(fields.Select(field => KeyValuePair.Create(field.Name, field.Value)));
    using var answer = await http.PostAsync($"{Address}/{operation}", form);
    return XDocument.Parse(await answer.EnsureSuccessStatusCode().Content.ReadAsStringAsync()).Root!.Value;
}
