using System;
using System.Collections.Generic;
using System.Linq;
using System.Net;
using System.Web.Script.Serialization;
using System.Web.Services.Protocols;
using System.Xml;

class Program
{
    static void Main()
    {
        var service = new WebHook { SoapVersion = SoapProtocolVersion.Soap11 };     // or Soap12
        service.Credentials = new NetworkCredential("any name", "YOUR-KEY");
        service.PreAuthenticate = true;

        var note = new XmlDocument().CreateElement("note");
        note.InnerText = "text";
        Console.WriteLine(service.RecordEvent(new[] { note }));

        var json = new JavaScriptSerializer();
        string after = "0", page;
        while ((page = service.GetEvents(after, 100, true, null, null, null, null)) != "[]")
        {
            Console.WriteLine(page);
            after = (string)json.Deserialize<Dictionary<string, object>[]>(page).Last()["sequence"];
        }
        Console.WriteLine(service.GetEvents(after, 0, false, null, null, "30s", null));
    }
}
