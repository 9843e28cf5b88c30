import java.io.PrintStream;
import javax.xml.namespace.QName;
import javax.xml.transform.Source;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMResult;
import javax.xml.transform.dom.DOMSource;
import javax.xml.ws.BindingProvider;
import javax.xml.ws.Dispatch;
import javax.xml.ws.Service;
import javax.xml.ws.soap.SOAPFaultException;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import webhook.WebHook;
import webhook.WebHookSoap;

public class Client {
    static String namespace;
    static PrintStream out;

    public static void main(String[] arguments) throws Exception {
        out = new PrintStream(System.out, true, "UTF-8");
        namespace = arguments[1];

        WebHook service = new WebHook();
        call("soap11", "WebHookSoap", service, service.getWebHookSoap(), arguments[0]);
        call("soap12", "WebHookSoap12", service, service.getWebHookSoap12(), arguments[0]);
    }

    static void call(String binding, String port, WebHook service, WebHookSoap proxy, String text) throws Exception {
        print(binding, "HelloWorld", proxy.helloWorld());
        print(binding, "RecordEvent", proxy.recordEvent());
        Document reply = send(service, port, "RecordEvent", text);
        print(binding, "payload", reply.getDocumentElement().getFirstChild().getTextContent());
        print(binding, "GetEvents", proxy.getEvents());
        try {
            send(service, port, "Unknown", text);
        } catch (SOAPFaultException fault) {
            print(binding, "fault", "SOAPFaultException " + fault.getFault().getFaultCodeAsQName().getLocalPart()
                + ": " + fault.getMessage());
        }
    }

    /** Sends an operation element that the generated proxy cannot write, through an untyped dispatch. */
    static Document send(WebHook service, String port, String operation, String text) throws Exception {
        Document request = javax.xml.parsers.DocumentBuilderFactory.newInstance().newDocumentBuilder().newDocument();
        Element element = (Element) request.appendChild(request.createElementNS(namespace, operation));
        element.appendChild(request.createElementNS(namespace, "note")).setTextContent(text);
        Dispatch<Source> dispatch =
            service.createDispatch(new QName(namespace, port), Source.class, Service.Mode.PAYLOAD);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_USE_PROPERTY, true);
        dispatch.getRequestContext().put(BindingProvider.SOAPACTION_URI_PROPERTY, namespace.replaceFirst("/?$", "/") + operation);
        DOMResult reply = new DOMResult();
        TransformerFactory.newInstance().newTransformer().transform(dispatch.invoke(new DOMSource(request)), reply);
        return (Document) reply.getNode();
    }

    static void print(String binding, String check, String value) {
        out.println(binding + "\t" + check + "\t" + value);
    }
}
