import soap from 'soap';

const wsdl = 'http://127.0.0.1:8080/webhooks/Services/WebHooks.asmx?WSDL=extended';
const client = await soap.createClientAsync(wsdl); // or (wsdl, { forceSoap12Headers: true })
client.setSecurity(new soap.BearerSecurity('YOUR-KEY'));

const [{ RecordEventResult: id }] = await client.RecordEventAsync({ note: 'text' });
console.log(id);

const events = async (query) => (await client.GetEventsAsync(query))[0].GetEventsResult;
let after = '0';
for (let page; (page = await events({ after, limit: 100 })) !== '[]';) {
  console.log(page);
  after = JSON.parse(page).at(-1).sequence;
}
console.log(await events({ after, wait: '30s' }));
