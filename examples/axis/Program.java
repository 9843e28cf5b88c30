import javax.xml.namespace.QName;
import org.apache.axis.client.Stub;
import org.apache.axis.message.MessageElement;
import webhook.GetEvents;
import webhook.RecordEvent;
import webhook.WebHookLocator;
import webhook.WebHookSoap_PortType;

public class Program {
    public static void main(String[] arguments) throws Exception {
        WebHookSoap_PortType port = new WebHookLocator().getWebHookSoap();
        ((Stub) port).setUsername("any name");
        ((Stub) port).setPassword("YOUR-KEY");

        MessageElement note = new MessageElement(new QName("note"), "text");
        RecordEvent event = new RecordEvent(new MessageElement[] {note});
        System.out.println(port.recordEvent(event).getRecordEventResult());

        GetEvents query = new GetEvents("0", 100, null, null, null, null);
        String page;
        while (!(page = port.getEvents(query).getGetEventsResult()).equals("[]")) {
            System.out.println(page);
            query.setAfter(page.replaceAll("(?s).*\"sequence\":\"(\\d+)\".*", "$1"));
        }
        query.setWait("30s");
        System.out.println(port.getEvents(query).getGetEventsResult());
    }
}
