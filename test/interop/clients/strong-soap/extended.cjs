const { promisify } = require('node:util');
const { soap } = require('strong-soap');

const [wsdl, text] = process.argv.slice(2);
const show = (...fields) => console.log(fields.join('\t'));
const createClient = promisify(soap.createClient);

async function call(binding, name, options) {
  const pages = [];
  const handle = (page) => pages.push(page);

  const client = await createClient(wsdl, options);
  const port = client.WebHook[name];
  const { result } = await port.RecordEvent({ note: text });
  const id = result.RecordEventResult;

  const events = async (query) => (await port.GetEvents(query)).result.GetEventsResult;
  let after = '0';
  for (let page; (page = await events({ after, limit: 100 })) !== '[]';) {
    handle(page);
    after = JSON.parse(page).at(-1).sequence;
  }
  const next = await events({ after, wait: '30s' });

  show(binding, 'note', await events({ id }));
  show(binding, 'paging', ...pages);
  show(binding, 'waiting', next);
}

async function main() {
  await call('soap11', 'WebHookSoap', {});
  await call('soap12', 'WebHookSoap12', { forceSoap12Headers: true });
}

void main();
