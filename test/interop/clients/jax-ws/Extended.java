import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import javax.xml.bind.JAXBElement;
import javax.xml.namespace.QName;
import webhook.RecordEvent;
import webhook.WebHook;
import webhook.WebHookSoap;

/** Sends, pages and waits with the port that wsimport makes from the extended WSDL. */
public class Extended {
    static PrintStream out;
    static List<String> pages;

    public static void main(String[] arguments) throws Exception {
        out = new PrintStream(System.out, true, "UTF-8");
        WebHook service = new WebHook();
        call("soap11", service.getWebHookSoap(), arguments[0]);
        call("soap12", service.getWebHookSoap12(), arguments[0]);
    }

    static void call(String binding, WebHookSoap port, String text) {
        pages = new ArrayList<>();

        RecordEvent event = new RecordEvent();
        event.getAny().add(new JAXBElement<>(new QName("note"), String.class, text));
        String id = port.recordEvent(event).getRecordEventResult();

        String after = "0", page;
        while (!(page = port.getEvents(after, 100, null, null, null, null)).equals("[]")) {
            handle(page);
            after = page.replaceAll("(?s).*\"sequence\":\"(\\d+)\".*", "$1");
        }
        String next = port.getEvents(after, null, null, null, "30s", null);

        print(binding, "note", port.getEvents(null, null, id, null, null, null));
        print(binding, "paging", String.join("\t", pages));
        print(binding, "waiting", next);
    }

    static void handle(String page) {
        pages.add(page);
    }

    static void print(String binding, String check, String value) {
        out.println(binding + "\t" + check + "\t" + value);
    }
}
