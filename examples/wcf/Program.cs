using System;
using System.ServiceModel;
using System.ServiceModel.Channels;

class Program
{
    static void Main()
    {
        var address = new EndpointAddress("http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx");
        var client = new WebHookSoapClient(new BasicHttpBinding(), address);
        using (new OperationContextScope(client.InnerChannel))
        {
            var http = new HttpRequestMessageProperty();
            http.Headers["X-API-Key"] = "YOUR-KEY";
            OperationContext.Current.OutgoingMessageProperties[HttpRequestMessageProperty.Name] = http;

            Console.WriteLine(client.RecordEvent());
            Console.WriteLine(client.GetEvents());
        }
    }
}
