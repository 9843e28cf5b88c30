const soap = require('soap');

const [wsdl, text] = process.argv.slice(2);
const PORTS = [
  ['soap11', 'WebHookSoap', {}],
  ['soap12', 'WebHookSoap12', { forceSoap12Headers: true }],
];

async function main() {
  for (const [binding, port, options] of PORTS) {
    const client = await soap.createClientAsync(wsdl, { disableCache: true, ...options });
    const call = (operation, argument = {}, given = {}) =>
      new Promise((resolve, reject) => {
        const answered = (error, reply) => (error ? reject(error) : resolve(reply[`${operation}Result`]));
        client.WebHook[port][operation](argument, answered, given);
      });
    const show = (check, value) => console.log([binding, check, value].join('\t'));
    show('HelloWorld', await call('HelloWorld'));
    show('RecordEvent', await call('RecordEvent'));
    show('payload', await call('RecordEvent', { note: text }));
    show('GetEvents', await call('GetEvents'));
    try {
      // HelloWorld under a name that the service does not have.
      client.setSOAPAction('http://tempuri.org/Unknown');
      await call('HelloWorld', {}, { postProcess: (xml) => xml.replaceAll('HelloWorld', 'Unknown') });
    } catch (error) {
      const { Fault } = error.root.Envelope.Body;
      const code = Fault.faultcode ?? Fault.Code.Value;
      const reason = Fault.faultstring ?? Fault.Reason.Text;
      show('fault', `Fault ${code.split(':').pop()}: ${reason.$value ?? reason}`);
    }
  }
}

void main();
