using System;
using System.Text;
using System.Web.Services;
using System.Web.Services.Protocols;

/// <summary>What every generated proxy can do, and a call of an operation that the service does not have.</summary>
class Client
{
    static void Main()
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        var soap = new Proxy.SOAP.WebHook();     // wsdl -protocol:SOAP
        var soap12 = new Proxy.SOAP12.WebHook();
        Call("soap11", soap);
        Call("soap12", soap12);
        Call("httpget", new Proxy.HttpGet.WebHook());
        Call("httppost", new Proxy.HttpPost.WebHook());
        Fault("soap11", new UnknownOperation { Url = soap.Url });
        Fault("soap12", new UnknownOperation { Url = soap12.Url, SoapVersion = SoapProtocolVersion.Soap12 });
    }

    static void Call(string binding, dynamic proxy)
    {
        Print(binding, "HelloWorld", proxy.HelloWorld());
        Print(binding, "RecordEvent", proxy.RecordEvent());
        Print(binding, "GetEvents", proxy.GetEvents());
    }

    static void Print(string binding, string check, string value)
    {
        Console.WriteLine(binding + "\t" + check + "\t" + value);
    }

    static void Fault(string binding, UnknownOperation proxy)
    {
        try { proxy.Call(); }
        catch (SoapException fault) { Print(binding, "fault", "SoapException " + fault.Code.Name + ": " + fault.Message); }
    }
}

[WebServiceBinding(Name = "WebHookSoap", Namespace = "http://tempuri.org/")]
class UnknownOperation : SoapHttpClientProtocol
{
    [SoapDocumentMethod("http://tempuri.org/Unknown", RequestNamespace = "http://tempuri.org/", ResponseNamespace = "http://tempuri.org/")]
    public string Unknown() { return null; }

    public void Call() { Invoke("Unknown", new object[0]); }
}
