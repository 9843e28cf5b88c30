#:property PublishAot=false
using System.Text;
using System.Xml.Linq;

string url = args[0], text = args[1];
Console.OutputEncoding = new UTF8Encoding(false);
XNamespace soap11 = "http://schemas.xmlsoap.org/soap/envelope/", soap12 = "http://www.w3.org/2003/05/soap-envelope";

using var http = new HttpClient();
XNamespace webhook = "http://tempuri.org/";
var greeting = XDocument.Parse(await http.GetStringAsync($"{url}/HelloWorld")).Root!.Value;
Print("httpget", "HelloWorld", greeting);
Print("httpget", "RecordEvent", await Get("RecordEvent"));
Print("httpget", "payload", await Get("RecordEvent?note=" + Uri.EscapeDataString(text)));
Print("httpget", "GetEvents", await Get("GetEvents"));

var form = new Dictionary<string, string> { ["note"] = text };
Print("httppost", "HelloWorld", await Post("HelloWorld", []));
Print("httppost", "RecordEvent", await Post("RecordEvent", []));
Print("httppost", "payload", await Post("RecordEvent", form));
Print("httppost", "GetEvents", await Post("GetEvents", []));

foreach (var (binding, ns) in new[] { ("soap11", soap11), ("soap12", soap12) })
{
    Print(binding, "HelloWorld", (await Call(ns, "HelloWorld")).Value);
    Print(binding, "RecordEvent", (await Call(ns, "RecordEvent")).Value);
    Print(binding, "payload", (await Call(ns, "RecordEvent", new XElement(webhook + "note", text))).Value);
    Print(binding, "GetEvents", (await Call(ns, "GetEvents")).Value);
    var fault = await Call(ns, "Unknown");
    var code = (fault.Descendants("faultcode").FirstOrDefault() ?? fault.Descendants(ns + "Value").First()).Value;
    var reason = (fault.Descendants("faultstring").FirstOrDefault() ?? fault.Descendants(ns + "Text").First()).Value;
    Print(binding, "fault", $"fault {code[(code.IndexOf(':') + 1)..]}: {reason}");
}

static void Print(string binding, string check, string value) => Console.WriteLine($"{binding}\t{check}\t{value}");

async Task<string> Get(string target) => XDocument.Parse(await http.GetStringAsync($"{url}/{target}")).Root!.Value;

async Task<string> Post(string operation, Dictionary<string, string> fields)
{
    var answer = await http.PostAsync($"{url}/{operation}", new FormUrlEncodedContent(fields));
    return XDocument.Parse(await answer.EnsureSuccessStatusCode().Content.ReadAsStringAsync()).Root!.Value;
}

async Task<XElement> Call(XNamespace ns, string operation, params object[] payload)
{
    var envelope = new XElement(ns + "Envelope", new XElement(ns + "Body", new XElement(webhook + operation, payload)));
    var type = ns == soap11 ? "text/xml" : "application/soap+xml";
    using var request = new HttpRequestMessage(HttpMethod.Post, url);
    request.Content = new StringContent(envelope.ToString(), Encoding.UTF8, type);
    if (ns == soap11) request.Headers.Add("SOAPAction", $"\"{webhook}{operation}\"");
    // A server may take its time to let a body come; .NET then sends the body unasked.
    request.Headers.ExpectContinue = true;
    var answer = await http.SendAsync(request);
    return XDocument.Parse(await answer.Content.ReadAsStringAsync()).Root!;
}
