import java.io.PrintStream;
import java.util.Vector;
import org.apache.axis.AxisFault;
import org.apache.axis.client.Call;
import org.apache.axis.message.SOAPBodyElement;
import org.apache.axis.utils.XMLUtils;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import webhook.WebHookLocator;
import webhook.WebHookSoap_PortType;

/** Axis 1.4 sends HTTP/1.0 and closes the connection after each call. */
public class Client {
    static final String NAMESPACE = "http://tempuri.org/";
    static PrintStream out;

    public static void main(String[] arguments) throws Exception {
        out = new PrintStream(System.out, true, "UTF-8");

        WebHookLocator service = new WebHookLocator();
        WebHookSoap_PortType port = service.getWebHookSoap();
        print("HelloWorld", port.helloWorld());
        print("RecordEvent", port.recordEvent());
        Vector<?> reply = (Vector<?>) send(service, "RecordEvent", arguments[0]);
        print("payload", ((SOAPBodyElement) reply.get(0)).getAsDOM().getTextContent());
        print("GetEvents", port.getEvents());
        try {
            send(service, "Unknown", arguments[0]);
        } catch (AxisFault fault) {
            print("fault", "AxisFault " + fault.getFaultCode().getLocalPart() + ": " + fault.getFaultString());
        }
    }

    /** Sends an operation element that the generated stub cannot write, through an untyped call. */
    static Object send(WebHookLocator service, String operation, String text) throws Exception {
        Document request = XMLUtils.newDocument();
        Element element = request.createElementNS(NAMESPACE, operation);
        element.appendChild(request.createElementNS(NAMESPACE, "note")).appendChild(request.createTextNode(text));
        Call call = (Call) service.createCall();
        call.setTargetEndpointAddress(service.getWebHookSoapAddress());
        call.setUseSOAPAction(true);
        call.setSOAPActionURI(NAMESPACE + operation);
        return call.invoke(new Object[] {new SOAPBodyElement(element)});
    }

    static void print(String check, String value) {
        out.println("soap11\t" + check + "\t" + value);
    }
}
