// The servers that the bench compares, each started as a process of its own:
//   node scripts/bench/servers.mjs limit|router|node-soap
// They answer SOAP 1.1 HelloWorld with the bytes of the service, limit and router whatever they are sent, and print their address.
import { createServer } from 'node:http';
import express, { Router } from 'express';
import soap from 'soap';
import { Contract } from '../../dist/contract/contract.js';
import { SOAP_11_ANSWER } from './calls.mjs';

const TYPE = 'text/xml; charset=utf-8';
const PATH = '/webhooks/Services/WebHooks.asmx';

const answer = (response) => {
  response.writeHead(200, {
    'Cache-Control': 'private, max-age=0',
    'Content-Type': TYPE,
    'Content-Length': Buffer.byteLength(SOAP_11_ANSWER),
  });
  response.end(SOAP_11_ANSWER);
};

const servers = {
  /** Reads the body and writes the answer, nothing else. */
  limit: () =>
    createServer((request, response) => {
      const chunks = [];
      request.on('data', (chunk) => chunks.push(chunk));
      request.on('end', () => {
        Buffer.concat(chunks);
        answer(response);
      });
    }),

  /** One route of a bare router, which does not read the body. */
  router: () => {
    const router = Router();
    router.post(PATH, (_request, response) => answer(response));
    return createServer((request, response) => router(request, response, () => response.end()));
  },

  /** What node-soap's README shows for Express. */
  'node-soap': async () => {
    const contract = await Contract.load('http://tempuri.org/');
    const port = {
      HelloWorld: () => ({ HelloWorldResult: 'Hello World' }),
      RecordEvent: () => ({ RecordEventResult: '00000000-0000-7000-8000-000000000000' }),
      GetEvents: () => ({ GetEventsResult: '[]' }),
    };
    const application = express();
    application.use(express.raw({ type: () => true, limit: '5mb' }));
    soap.listen(application, PATH, { WebHook: { WebHookSoap: port } }, contract.wsdl(`http://127.0.0.1${PATH}`));
    return createServer(application);
  },
};

const server = await servers[process.argv[2]]();
server.listen(0, '127.0.0.1', () => {
  console.log(`answers at http://127.0.0.1:${server.address().port}${PATH}`);
});
