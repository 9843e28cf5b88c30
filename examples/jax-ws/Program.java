import java.util.Map;
import javax.xml.bind.JAXBElement;
import javax.xml.namespace.QName;
import javax.xml.ws.BindingProvider;
import webhook.RecordEvent;
import webhook.WebHook;
import webhook.WebHookSoap;

public class Program {
    public static void main(String[] arguments) {
        WebHookSoap port = new WebHook().getWebHookSoap();     // or getWebHookSoap12
        Map<String, Object> context = ((BindingProvider) port).getRequestContext();
        context.put(BindingProvider.USERNAME_PROPERTY, "any name");
        context.put(BindingProvider.PASSWORD_PROPERTY, "YOUR-KEY");

        RecordEvent event = new RecordEvent();
        event.getAny().add(new JAXBElement<>(new QName("note"), String.class, "text"));
        System.out.println(port.recordEvent(event).getRecordEventResult());

        String after = "0", page;
        while (!(page = port.getEvents(after, 100, null, null, null, null)).equals("[]")) {
            System.out.println(page);
            after = page.replaceAll("(?s).*\"sequence\":\"(\\d+)\".*", "$1");
        }
        System.out.println(port.getEvents(after, null, null, null, "30s", null));
    }
}
