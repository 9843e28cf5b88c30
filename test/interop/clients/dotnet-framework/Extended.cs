using System;
using System.Collections.Generic;
using System.Linq;
using System.Text;
using System.Web.Script.Serialization;
using System.Web.Services.Protocols;
using System.Xml;

/// <summary>Sends, pages and waits with the proxy that wsdl makes from the extended WSDL.</summary>
class Extended
{
    static readonly List<string> pages = new List<string>();

    static void Main(string[] arguments)
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        Call("soap11", SoapProtocolVersion.Soap11, arguments[0]);
        Call("soap12", SoapProtocolVersion.Soap12, arguments[0]);
    }

    static void Call(string binding, SoapProtocolVersion version, string text)
    {
        pages.Clear();

        var soap = new WebHook { SoapVersion = version };     // SoapProtocolVersion.Soap11 or Soap12
        var note = new XmlDocument().CreateElement("note");
        note.InnerText = text;
        var id = soap.RecordEvent(new[] { note });

        var json = new JavaScriptSerializer();     // System.Web.Extensions
        string after = "0", page;
        while ((page = soap.GetEvents(after, 100, true, null, null, null, null)) != "[]")
        {
            Handle(page);
            after = (string)json.Deserialize<Dictionary<string, object>[]>(page).Last()["sequence"];
        }
        var next = soap.GetEvents(after, 0, false, null, null, "30s", null);

        Print(binding, "note", soap.GetEvents(null, 0, false, id, null, null, null));
        Print(binding, "paging", pages.ToArray());
        Print(binding, "waiting", next);
    }

    static void Handle(string page)
    {
        pages.Add(page);
    }

    static void Print(string binding, string check, params string[] values)
    {
        Console.WriteLine(binding + "\t" + check + "\t" + string.Join("\t", values));
    }
}
