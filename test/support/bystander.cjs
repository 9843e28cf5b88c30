// A well-behaved client in a process of its own: calls over every binding, one after the other, until its standard input
// ends, and then prints what it saw as JSON: node bystander.cjs URL KEY
const { Agent, request } = require('node:http');
const { setTimeout: pause } = require('node:timers/promises');

const [url, key] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const soap = (namespace) =>
  `<s:Envelope xmlns:s="${namespace}"><s:Body><RecordEvent xmlns="http://tempuri.org/"><a>1</a></RecordEvent></s:Body></s:Envelope>`;
const CALLS = [
  ['', 'POST', 'text/xml', soap('http://schemas.xmlsoap.org/soap/envelope/')],
  ['', 'POST', 'application/soap+xml', soap('http://www.w3.org/2003/05/soap-envelope')],
  ['/RecordEvent?a=1', 'GET', 'text/plain', ''],
  ['/RecordEvent', 'POST', 'application/json', '{"a":1}'],
  ['/HelloWorld', 'GET', 'text/plain', ''],
];

function call([path, method, type, body]) {
  const headers = { 'X-API-Key': key, 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) };
  return new Promise((resolve) => {
    const started = performance.now();
    const done = (what) => resolve([what, performance.now() - started]);
    request(url + path, { method, headers, agent }, (response) => {
      response.resume().on('end', () => done(String(response.statusCode)));
    })
      .on('error', (error) => done(error.code ?? error.message))
      .end(body);
  });
}

async function main() {
  let ended = false;
  process.stdin.resume().on('end', () => (ended = true));
  const times = [];
  const others = {};
  for (let i = 0; !ended; i++) {
    const [status, milliseconds] = await call(CALLS[i % CALLS.length]);
    times.push(milliseconds);
    if (status !== '200') others[status] = (others[status] ?? 0) + 1;
    await pause(2);
  }
  times.sort((a, b) => a - b);
  const at = (share) => Math.round((times[Math.ceil(share * times.length) - 1] ?? 0) * 10) / 10;
  console.log(JSON.stringify({ calls: times.length, p50: at(0.5), p99: at(0.99), max: at(1), others }));
  agent.destroy();
}

void main();
