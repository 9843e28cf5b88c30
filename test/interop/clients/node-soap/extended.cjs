const soap = require('soap');

const [wsdl, text] = process.argv.slice(2);
const show = (...fields) => console.log(fields.join('\t'));

async function call(binding, options) {
  const pages = [];
  const handle = (page) => pages.push(page);

  const client = await soap.createClientAsync(wsdl, options);
  const [{ RecordEventResult: id }] = await client.RecordEventAsync({ note: text });

  const events = async (query) => (await client.GetEventsAsync(query))[0].GetEventsResult;
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
  await call('soap11', { disableCache: true });
  await call('soap12', { disableCache: true, forceSoap12Headers: true });
}

void main();
