[ServiceContract(Name = "WebHookSoap", Namespace = "http://tempuri.org/")]
public interface IWebHook
{
    [OperationContract(Action = "http://tempuri.org/HelloWorld")]
    string HelloWorld();

    [OperationContract(Action = "http://tempuri.org/RecordEvent")]
    string RecordEvent();
}

/// <summary>Stores nothing: the id is always the same.</summary>
public class WebHook : IWebHook
{
    public string HelloWorld() => "Hello World";

    public string RecordEvent() => "00000000-0000-7000-8000-000000000000";
}
