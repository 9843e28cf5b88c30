import { promisify } from 'node:util';
import { soap } from 'strong-soap';

const wsdl = 'http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended';
const client = await promisify(soap.createClient)(wsdl, {}); // or { forceSoap12Headers: true }
client.setSecurity(new soap.BearerSecurity('YOUR-KEY'));
const port = client.WebHook.WebHookSoap; // or WebHookSoap12

console.log((await port.RecordEvent({ note: 'text' })).result.RecordEventResult);

const events = async (query) => (await port.GetEvents(query)).result.GetEventsResult;
let after = '0';
for (let page; (page = await events({ after, limit: 100 })) !== '[]';) {
  console.log(page);
  after = JSON.parse(page).at(-1).sequence;
}
console.log(await events({ after, wait: '30s' }));
