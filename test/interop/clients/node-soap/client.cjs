const soap = require('soap');

const [wsdl, text] = process.argv.slice(2);
const show = (...fields) => console.log(fields.join('\t'));

async function main() {
  const client = await soap.createClientAsync(wsdl, { disableCache: true });
  const client12 = await soap.createClientAsync(wsdl, { disableCache: true, forceSoap12Headers: true });
  const port = client.WebHook.WebHookSoap;
  const port12 = client12.WebHook.WebHookSoap12;
  await call('soap11', client, port);
  await call('soap12', client12, port12);
}

const result = (operation, argument, options) =>
  new Promise((resolve, reject) => {
    operation(argument, (error, reply) => (error ? reject(error) : resolve(reply)), options);
  });

async function call(binding, client, port) {
  show(binding, 'HelloWorld', (await result(port.HelloWorld, {})).HelloWorldResult);
  show(binding, 'RecordEvent', (await result(port.RecordEvent, {})).RecordEventResult);
  show(binding, 'payload', (await result(port.RecordEvent, { note: text })).RecordEventResult);
  show(binding, 'GetEvents', (await result(port.GetEvents, {})).GetEventsResult);
  try {
    // HelloWorld under a name that the service does not have.
    client.setSOAPAction('http://tempuri.org/Unknown');
    const postProcess = (xml) => xml.replaceAll('HelloWorld', 'Unknown');
    await result(port.HelloWorld, {}, { postProcess });
  } catch (error) {
    const { Fault } = error.root.Envelope.Body;
    const code = Fault.faultcode ?? Fault.Code.Value;
    const reason = Fault.faultstring ?? Fault.Reason.Text;
    show(binding, 'fault', `Fault ${code.split(':').pop()}: ${reason.$value ?? reason}`);
  }
}

void main();
