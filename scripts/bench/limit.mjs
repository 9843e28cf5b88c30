// Bare node:http: reads each body and answers with the bytes of HelloWorld. No service on Node answers faster. It prints its address.
import { createServer } from 'node:http';

const SCHEMAS = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"';
const ANSWER = `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/" ${SCHEMAS}><soap:Body><HelloWorldResponse xmlns="http://tempuri.org/"><HelloWorldResult>Hello World</HelloWorldResult></HelloWorldResponse></soap:Body></soap:Envelope>`;

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks);
    const fields = {
      'Cache-Control': 'private, max-age=0',
      'Content-Type': 'text/xml; charset=utf-8',
      'Content-Length': Buffer.byteLength(ANSWER),
    };
    response.writeHead(200, fields).end(ANSWER);
  });
});
server.listen(0, '127.0.0.1', () => console.log(`answers at http://127.0.0.1:${server.address().port}/`));
