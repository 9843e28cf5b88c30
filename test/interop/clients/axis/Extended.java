import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.namespace.QName;
import org.apache.axis.message.MessageElement;
import webhook.GetEvents;
import webhook.RecordEvent;
import webhook.WebHookLocator;
import webhook.WebHookSoap_PortType;

/** Sends, pages and waits with the stub that WSDL2Java makes from the extended WSDL. */
public class Extended {
    static PrintStream out;
    static final List<String> pages = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        out = new PrintStream(System.out, true, "UTF-8");
        String text = arguments[0];

        WebHookSoap_PortType port = new WebHookLocator().getWebHookSoap();
        MessageElement note = new MessageElement(new QName("note"), text);
        String id = port.recordEvent(new RecordEvent(new MessageElement[] {note})).getRecordEventResult();

        GetEvents query = new GetEvents("0", 100, null, null, null, null);
        String page;
        while (!(page = port.getEvents(query).getGetEventsResult()).equals("[]")) {
            handle(page);
            query.setAfter(page.replaceAll("(?s).*\"sequence\":\"(\\d+)\".*", "$1"));
        }
        query.setWait("30s");
        String next = port.getEvents(query).getGetEventsResult();

        print("note", port.getEvents(new GetEvents(null, null, id, null, null, null)).getGetEventsResult());
        print("paging", String.join("\t", pages));
        print("waiting", next);
    }

    static void handle(String page) {
        pages.add(page);
    }

    static void print(String check, String value) {
        out.println("soap11\t" + check + "\t" + value);
    }
}
