using System;
using System.Text;
using System.Web.Services.Protocols;
using System.Xml;

/// <summary>What every generated proxy can do, and a call of an operation that the service does not have.</summary>
class Client
{
    static void Main(string[] arguments)
    {
        Console.OutputEncoding = new UTF8Encoding(false);

        var soap = new Proxy.SOAP.WebHook();     // wsdl -protocol:SOAP
        Print("soap11", "HelloWorld", soap.HelloWorld());
        Print("soap11", "RecordEvent", soap.RecordEvent());
        Print("soap11", "GetEvents", soap.GetEvents());
        Fault("soap11", () => new UnknownOperation().Call());

        var soap12 = new Proxy.SOAP12.WebHook();
        Print("soap12", "HelloWorld", soap12.HelloWorld());
        Print("soap12", "RecordEvent", soap12.RecordEvent());
        Print("soap12", "GetEvents", soap12.GetEvents());
        Fault("soap12", () => new UnknownOperation12().Call());

        var get = new Proxy.HttpGet.WebHook();
        Print("httpget", "HelloWorld", get.HelloWorld());
        Print("httpget", "RecordEvent", get.RecordEvent());
        Print("httpget", "GetEvents", get.GetEvents());

        var post = new Proxy.HttpPost.WebHook();
        Print("httppost", "HelloWorld", post.HelloWorld());
        Print("httppost", "RecordEvent", post.RecordEvent());
        Print("httppost", "GetEvents", post.GetEvents());
    }

    static void Print(string binding, string check, string value)
    {
        Console.WriteLine(binding + "\t" + check + "\t" + value);
    }

    static void Fault(string binding, Action call)
    {
        try { call(); }
        catch (SoapException fault) { Print(binding, "fault", "SoapException " + fault.Code.Name + ": " + fault.Message); }
    }
}

[System.Web.Services.WebServiceBinding(Name = "WebHookSoap", Namespace = "http://tempuri.org/")]
class UnknownOperation : SoapHttpClientProtocol
{
    public UnknownOperation() { Url = new Proxy.SOAP.WebHook().Url; }

    [SoapDocumentMethod("http://tempuri.org/Unknown", RequestNamespace = "http://tempuri.org/", ResponseNamespace = "http://tempuri.org/")]
    public string Unknown() { return null; }

    public void Call() { Invoke("Unknown", new object[0]); }
}

[System.Web.Services.WebServiceBinding(Name = "WebHookSoap12", Namespace = "http://tempuri.org/")]
class UnknownOperation12 : SoapHttpClientProtocol
{
    public UnknownOperation12()
    {
        Url = new Proxy.SOAP12.WebHook().Url;
        SoapVersion = SoapProtocolVersion.Soap12;
    }

    [SoapDocumentMethod("http://tempuri.org/Unknown", RequestNamespace = "http://tempuri.org/", ResponseNamespace = "http://tempuri.org/")]
    public string Unknown() { return null; }

    public void Call() { Invoke("Unknown", new object[0]); }
}
