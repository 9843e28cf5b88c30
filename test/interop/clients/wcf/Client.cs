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
        var address = new EndpointAddress(arguments[0]);

        var client = new WebHookSoapClient(new BasicHttpBinding(), address);
        Print("soap11", "HelloWorld", client.HelloWorld());
        Print("soap11", "RecordEvent", client.RecordEvent());
        Payload("soap11", new BasicHttpBinding(), MessageVersion.Soap11, address, arguments[1]);
        Print("soap11", "GetEvents", client.GetEvents());
        Fault("soap11", new BasicHttpBinding(), MessageVersion.Soap11, address);

        // SOAP 1.2 without WS-Addressing, which ASMX does not support.
        var version12 = MessageVersion.CreateVersion(EnvelopeVersion.Soap12, AddressingVersion.None);
        var binding12 = new CustomBinding(
            new TextMessageEncodingBindingElement(version12, Encoding.UTF8), new HttpTransportBindingElement());
        var client12 = new WebHookSoapClient(binding12, address);
        Print("soap12", "HelloWorld", client12.HelloWorld());
        Print("soap12", "RecordEvent", client12.RecordEvent());
        Payload("soap12", binding12, version12, address, arguments[1]);
        Print("soap12", "GetEvents", client12.GetEvents());
        Fault("soap12", binding12, version12, address);
    }

    static void Print(string binding, string check, string value)
    {
        Console.WriteLine(binding + "\t" + check + "\t" + value);
    }

    /// <summary>Sends an operation element that the proxy cannot write, through an untyped channel.</summary>
    static Message Send(Binding binding, MessageVersion version, EndpointAddress address, string operation, string content)
    {
        var body = new XmlDocument();
        var element = body.CreateElement(operation, "http://tempuri.org/");
        var note = body.CreateElement("note", "http://tempuri.org/");
        note.InnerText = content;
        element.AppendChild(note);
        var channel = new ChannelFactory<IUntyped>(binding, address).CreateChannel();
        return channel.Call(
            Message.CreateMessage(version, "http://tempuri.org/" + operation, new XmlNodeReader(element)));
    }

    static void Payload(string name, Binding binding, MessageVersion version, EndpointAddress address, string text)
    {
        var reply = Send(binding, version, address, "RecordEvent", text).GetReaderAtBodyContents();
        reply.ReadToDescendant("RecordEventResult");
        Print(name, "payload", reply.ReadElementContentAsString());
    }

    /// <summary>Mono throws a fault even through an untyped contract; .NET returns it as the message that it is.</summary>
    static void Fault(string name, Binding binding, MessageVersion version, EndpointAddress address)
    {
        try
        {
            var reply = Send(binding, version, address, "Unknown", "");
            if (!reply.IsFault) return;
            var fault = MessageFault.CreateFault(reply, 65536);
            Print(name, "fault", "MessageFault " + fault.Code.Name + ": " + fault.Reason.GetMatchingTranslation().Text);
        }
        catch (FaultException fault)
        {
            Print(name, "fault", "FaultException " + fault.Code.Name + ": " + fault.Message);
        }
    }
}
