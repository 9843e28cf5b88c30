const { promisify } = require('node:util');
const { soap } = require('strong-soap');

const PORTS = [
  ['soap11', 'WebHookSoap', {}],
  ['soap12', 'WebHookSoap12', { forceSoap12Headers: true }],
];

async function main() {
  for (const [binding, port, options] of PORTS) {
    const client = await promisify(soap.createClient)(process.argv[2], options);
    for (const operation of ['HelloWorld', 'RecordEvent', 'GetEvents']) {
      const { result } = await client.WebHook[port][operation]({});
      console.log([binding, operation, result[`${operation}Result`]].join('\t'));
    }
  }
}

void main();
