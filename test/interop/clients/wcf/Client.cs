using System;
using System.ServiceModel;
using System.ServiceModel.Channels;
using System.Text;
using System.Xml;

/// <summary>Any message to any operation.</summary>
[ServiceContract]
interface IUntyped
{
    [OperationContract(Action = "*", ReplyAction = "*")]
    Message Call(Message request);
}

class Client
{
    static void Main(string[] arguments)
    {
        Console.OutputEncoding = new UTF8Encoding(false);
        // SOAP 1.2 without WS-Addressing, which ASMX does not support.
        var version12 = MessageVersion.CreateVersion(EnvelopeVersion.Soap12, AddressingVersion.None);
        var encoding12 = new TextMessageEncodingBindingElement(version12, Encoding.UTF8);
        Call("soap11", new BasicHttpBinding(), arguments[0], arguments[1]);
        Call("soap12", new CustomBinding(encoding12, new HttpTransportBindingElement()), arguments[0], arguments[1]);
    }

    static void Call(string name, Binding binding, string url, string text)
    {
        var address = new EndpointAddress(url);
        var client = new WebHookSoapClient(binding, address);
        Print(name, "HelloWorld", client.HelloWorld());
        Print(name, "RecordEvent", client.RecordEvent());
        var reply = Send(binding, address, "RecordEvent", text).GetReaderAtBodyContents();
        reply.ReadToDescendant("RecordEventResult");
        Print(name, "payload", reply.ReadElementContentAsString());
        Print(name, "GetEvents", client.GetEvents());
        // Mono throws a fault even through an untyped contract; .NET returns it as the message that it is.
        try
        {
            var fault = MessageFault.CreateFault(Send(binding, address, "Unknown", ""), 65536);
            Print(name, "fault", "MessageFault " + fault.Code.Name + ": " + fault.Reason.GetMatchingTranslation().Text);
        }
        catch (FaultException fault)
        {
            Print(name, "fault", "FaultException " + fault.Code.Name + ": " + fault.Message);
        }
    }

    static void Print(string binding, string check, string value)
    {
        Console.WriteLine(binding + "\t" + check + "\t" + value);
    }

    /// <summary>Sends an operation element that the proxy cannot write, through an untyped channel.</summary>
    static Message Send(Binding binding, EndpointAddress address, string operation, string content)
    {
        var body = new XmlDocument();
        var element = body.CreateElement(operation, "http://tempuri.org/");
        var note = body.CreateElement("note", "http://tempuri.org/");
        note.InnerText = content;
        element.AppendChild(note);
        var channel = new ChannelFactory<IUntyped>(binding, address).CreateChannel();
        var action = "http://tempuri.org/" + operation;
        return channel.Call(Message.CreateMessage(binding.MessageVersion, action, new XmlNodeReader(element)));
    }
}
