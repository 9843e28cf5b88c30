// Claims any free port on the host that is its argument, lets others ask for one, and then listens on the claimed one. Prints what
// each got, as JSON. Run it where the system has eight ports to give.
const { createServer } = require('node:net');
const { claimPort } = require('../../dist/workers/claim-port.js');

const listen = (address) =>
  new Promise((resolve) => {
    const server = createServer().unref();
    server.on('error', ({ code }) => resolve(code));
    server.listen(address, () => resolve(server.address().port));
  });

async function main(host) {
  const claimed = await claimPort({ host, port: 0 });
  const others = [];
  for (let i = 0; i < 8; i++) others.push(await listen({ host, port: 0 }));
  console.log(JSON.stringify({ claimed, others, worker: await listen({ host, port: claimed }) }));
}

void main(process.argv[2]);
