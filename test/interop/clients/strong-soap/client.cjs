const { soap } = require('strong-soap');

const [wsdl] = process.argv.slice(2);
const show = (...fields) => console.log(fields.join('\t'));

const createClient = (options) =>
  new Promise((resolve, reject) => {
    soap.createClient(wsdl, options, (error, client) => (error ? reject(error) : resolve(client)));
  });

const result = (operation, argument) =>
  new Promise((resolve, reject) => {
    operation(argument, (error, reply) => (error ? reject(error) : resolve(reply)));
  });

async function main() {
  const client = await createClient({});
  const client12 = await createClient({ forceSoap12Headers: true });
  const port = client.WebHook.WebHookSoap;
  const port12 = client12.WebHook.WebHookSoap12;
  await call('soap11', port);
  await call('soap12', port12);
}

async function call(binding, port) {
  show(binding, 'HelloWorld', (await result(port.HelloWorld, {})).HelloWorldResult);
  show(binding, 'RecordEvent', (await result(port.RecordEvent, {})).RecordEventResult);
  show(binding, 'GetEvents', (await result(port.GetEvents, {})).GetEventsResult);
}

void main();
