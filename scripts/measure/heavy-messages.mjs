// The messages that cost the service most, each within the limits that hold by default: what one is, and its request.
import { gzipSync } from 'node:zlib';

const NAMESPACE = 'http://tempuri.org/';
const SOAP = 'http://schemas.xmlsoap.org/soap/envelope/';
const WSSE = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd';
const MEGABYTE = 1e6;

const range = (length, each) => Array.from({ length }, (_, i) => each(i));
/** Something again and again, up to a size in bytes. */
const filled = (part, bytes) => part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
const prefixes = range(250, (i) => ` xmlns:p${i}="urn:example:namespaces:${i}"`).join('');

function soap(operation, content, { envelope = '', header = '', charset = 'utf-8' } = {}) {
  const [before, after] = [
    `<s:Envelope xmlns:s="${SOAP}"${envelope}>${header}<s:Body><${operation} xmlns="${NAMESPACE}">`,
    `</${operation}></s:Body></s:Envelope>`,
  ];
  return {
    headers: { 'Content-Type': `text/xml; charset=${charset}`, SOAPAction: NAMESPACE + operation },
    body: Buffer.concat([before, content, after].map((part) => Buffer.from(part))),
  };
}

/** The same message in SOAP 1.2. */
function inSoap12({ body }) {
  const namespace = Buffer.from('http://www.w3.org/2003/05/soap-envelope');
  const start = body.indexOf(SOAP);
  return {
    headers: { 'Content-Type': 'application/soap+xml; charset=utf-8' },
    body: Buffer.concat([body.subarray(0, start), namespace, body.subarray(start + SOAP.length)]),
  };
}

const post = (type, body, { path = '/RecordEvent', ...headers } = {}) => ({
  path,
  headers: { 'Content-Type': type, ...headers },
  body,
});
const get = (path, headers = {}) => ({ method: 'GET', path, headers, body: '' });
const FORM = 'application/x-www-form-urlencoded';
const BOUNDARY = '-'.repeat(69);
/** A form with files, of parts that go on after their names. */
const multipart = (parts) =>
  post(
    `multipart/form-data; boundary=${BOUNDARY}`,
    `${parts.map((part) => `--${BOUNDARY}\r\nContent-Disposition: form-data; name="n"; ${part}\r\n`).join('')}--${BOUNDARY}--`,
  );
const EVENT = { specversion: '1.0', source: '/s', type: 't' };
const cloudEvent = (members) => post('application/cloudevents+json', JSON.stringify({ ...EVENT, ...members }));
const batch = (idOf) =>
  post(
    'application/cloudevents-batch+json',
    JSON.stringify(range(10_000, (i) => ({ ...EVENT, id: idOf(i), data: { a: 1 } }))),
  );
/** The page of an event with this body, or the comparison of two. */
const page = (type, ...bodies) => ({ ...get(''), recorded: bodies.map((body) => post(type, body)) });
/** The comparison of two texts of 4 MB with these lines. */
const comparison = (line) =>
  page('text/plain', ...['a', 'b'].map((of) => range(500_000, (i) => line(i, of)).join('\n')));

/** Bytes that stand for letters in character sets, and no ASCII. */
const LETTERS = {
  Big5: [0xa4, 0xa4, 0xa4, 0xe5],
  GB18030: [0x81, 0x30, 0x81, 0x30, 0xd6, 0xd0],
  'windows-1252': [0xe4, 0xf6],
  'ISO-2022-JP': [0x1b, 0x24, 0x42, 0x46, 0x7c, 0x1b, 0x28, 0x42],
  'utf-8': [0xf0, 0x9f, 0x98, 0x80],
};
const letters = (charset, bytes) => Buffer.alloc(bytes - (bytes % 48), Buffer.from(LETTERS[charset]));

/** Each a name and a function that makes the request, by default a POST to the endpoint. */
export const MESSAGES = Object.entries({
  'SOAP, one text of 4 MB': () => soap('RecordEvent', filled('<a>', 3) + filled('x ', 4.1 * MEGABYTE) + '</a>'),
  'SOAP, 2.7 MB, 250 prefixes, HelloWorld': () =>
    soap('HelloWorld', filled('<a>&#65;</a>', 2.7 * MEGABYTE), { envelope: prefixes }),
  'SOAP, 2.7 MB, 250 prefixes, RecordEvent': () =>
    soap('RecordEvent', filled('<a>&#65;</a>', 2.7 * MEGABYTE), { envelope: prefixes }),
  'SOAP, 4 MB, 250 prefixes just below the limit of growth': () =>
    soap('RecordEvent', filled(`<a>&#65;${'x'.repeat(9950)}</a>`, 4.1 * MEGABYTE), { envelope: prefixes }),
  'SOAP, 4 MB of letters beyond Latin, just below the limit of growth': () =>
    soap('RecordEvent', filled(`<a>&#65;${'€'.repeat(3320)}</a>`, 4.1 * MEGABYTE), { envelope: prefixes }),
  'SOAP, 255 KB of <a/>': () => soap('RecordEvent', filled('<a/>', 255_000)),
  'SOAP, 140,000 children just below the limit of growth': () => soap('RecordEvent', '<a/>'.repeat(140_000)),
  'SOAP, 249,000 children of RecordEvent': () => soap('RecordEvent', '<a/>'.repeat(249_000)),
  'SOAP, 249,000 children, each with declarations of its own': () =>
    soap('RecordEvent', '<a xmlns="u"/>'.repeat(249_000)),
  'SOAP, 249,000 arguments of GetEvents': () => soap('GetEvents', '<id>1</id>'.repeat(249_000)),
  'SOAP, references': () => soap('RecordEvent', `<a>${filled('&#65;', 4.1 * MEGABYTE)}</a>`),
  'SOAP, colons': () => soap('RecordEvent', `<a>${filled('s:', 4.1 * MEGABYTE)}</a>`),
  'SOAP, comments': () => soap('RecordEvent', filled('<!---->', 4.1 * MEGABYTE)),
  'SOAP, CDATA sections': () => soap('RecordEvent', `<a>${filled('<![CDATA[]]>', 4.1 * MEGABYTE)}</a>`),
  'SOAP, processing instructions': () => soap('RecordEvent', filled('<?a?>', 4.1 * MEGABYTE)),
  'SOAP, elements with 250 attributes': () =>
    soap('RecordEvent', filled(`<a${range(250, (i) => ` a${i}=""`).join('')}/>`, 4.1 * MEGABYTE)),
  'SOAP, line breaks': () => soap('RecordEvent', `<a>${filled('\r\n', 4.1 * MEGABYTE)}</a>`),
  'SOAP, 1.4 MB, prefixes declared 60 levels up': () => soap('RecordEvent', nested(1.4 * MEGABYTE)),
  'SOAP, 1 MB in a wsse:Security of 16 nested long names': () => security(MEGABYTE),
  'SOAP, 249,000 header blocks': () =>
    soap('HelloWorld', '', { header: `<s:Header>${'<a/>'.repeat(249_000)}</s:Header>` }),
  'SOAP, 40,000 header blocks to be understood': () =>
    soap('HelloWorld', '', {
      header: `<s:Header>${range(40_000, (i) => `<s:a${i} s:mustUnderstand="1"/>`).join('')}</s:Header>`,
    }),
  ...Object.fromEntries(
    Object.keys(LETTERS).flatMap((charset) => [
      [
        `SOAP, 4 MB in ${charset}`,
        () => {
          const bytes = Buffer.concat([Buffer.from('<a>'), letters(charset, 4.1 * MEGABYTE), Buffer.from('</a>')]);
          return soap('RecordEvent', bytes, { charset });
        },
      ],
      [`form, 4 MB in ${charset}`, () => post(`${FORM}; charset=${charset}`, letters(charset, 4.1 * MEGABYTE))],
      [`text, 4 MB in ${charset}`, () => post(`text/plain; charset=${charset}`, letters(charset, 4.1 * MEGABYTE))],
    ]),
  ),
  'multipart, a text of 4 MB with escapes': () => multipart(['x="y"\r\n\r\n' + filled('"ä', 2.7 * MEGABYTE)]),
  'multipart, 1,000 files of 4 KB': () => multipart(range(1000, () => 'filename="a"\r\n\r\n' + filled('x', 4000))),
  'multipart, beginnings of delimiters': () =>
    multipart(['filename="a"\r\n\r\n' + filled(`\r\n--${BOUNDARY.slice(1)}`, 4 * MEGABYTE)]),
  'form, 10,000 fields in Big5': () => post(`${FORM}; charset=big5`, 'a%a4%a4=%a4%a4&'.repeat(9_999)),
  'form, raw control characters': () => post(FORM, filled('\u0001', 4.1 * MEGABYTE)),
  'form, 10,000 names, 4 MB': () => post(FORM, range(9_999, (i) => `a${i}=${'%C3%A4'.repeat(66)}`).join('&')),
  'form, more than 10,000 fields': () => post(FORM, filled('a&', 4.1 * MEGABYTE)),
  'form, escapes': () => post(FORM, filled('%C3%A4', 4.1 * MEGABYTE)),
  'form of JSON': () => post(FORM, `[${filled('1,', 4.1 * MEGABYTE)}1]`),
  'form to GetEvents, limit 10,000 times': () => post(FORM, 'limit=1&'.repeat(9_999), { path: '/GetEvents' }),
  'JSON, 2,000,000 numbers': () => post('application/json', `[${filled('1,', 4.1 * MEGABYTE)}1]`),
  'JSON, 99,000 members': () => post('application/json', `{${range(99_000, (i) => `"n${i}":1`).join()}}`),
  'JSON, nested': () => post('application/json', '['.repeat(99_000) + ']'.repeat(99_000)),
  'JSON, escapes': () => post('application/json', `"${filled('\\u0041', 4.1 * MEGABYTE)}"`),
  'JSON, white space before a mistake': () => post('application/json', `[${filled(' ', 4.1 * MEGABYTE)}x]`),
  'JSON, noncharacters': () => post('application/json', `"${filled('\uffff', 4.1 * MEGABYTE)}"`),
  'JSON, lone surrogates as text': () => post('text/plain', filled('\ufffe\uffff"', 4.1 * MEGABYTE)),
  'text, control characters': () => post('text/plain', filled('\u0001', 4.1 * MEGABYTE)),
  'XML over HTTP POST': () => post('text/xml', `<a>${filled('<b/>', 4.1 * MEGABYTE)}</a>`),
  'text that says it is compressed': () =>
    post('text/plain', filled('x"', 4.1 * MEGABYTE), { 'Content-Encoding': 'br' }),
  bytes: () => post('application/octet-stream', Buffer.alloc(4.1 * MEGABYTE, 1)),
  'gzip, 4 MB of 4 KB': () =>
    post('application/json', gzipSync(`[${filled('1,', 4.1 * MEGABYTE)}1]`), { 'Content-Encoding': 'gzip' }),
  'CloudEvent, 90,000 members': () =>
    cloudEvent({ id: '1', ...Object.fromEntries(range(90_000, (i) => [`n${i}`, i])) }),
  'CloudEvent, 4 MB of data': () => cloudEvent({ id: '2', data: 'x"'.repeat(1.3 * MEGABYTE) }),
  'CloudEvent, 4 MB of base64': () => cloudEvent({ id: '3', data_base64: 'AAAA'.repeat(MEGABYTE) }),
  'CloudEvent, a long attribute': () => cloudEvent({ id: '4', a: 'x'.repeat(4 * MEGABYTE) }),
  'CloudEvents, a batch of 10,000': () => batch(String),
  'CloudEvents, a batch of 10,000, the last wrong': () => batch((i) => (i === 9_999 ? '' : `b${i}`)),
  'GetEvents, limit 2,000,000 times': () =>
    post('application/json', `{"limit":[${filled('1,', 4.1 * MEGABYTE)}1]}`, { path: '/GetEvents' }),
  // The one that is sent first.
  'GetEvents, an event of 4 MB': () => get('/GetEvents?sequence=1'),
  'GetEvents over SOAP, the newest events': () => soap('GetEvents', ''),
  'GetEvents, a long limit': () =>
    post('application/json', `{"limit":"${filled('1', 4.1 * MEGABYTE)}"}`, { path: '/GetEvents' }),
  'Content-Type with 15,900 spaces': () => post(`a/b;p=x${' '.repeat(15_000)}x`, 'x'),
  'Content-Type with quotes': () => post(`a/b;p="${'\\"'.repeat(7000)}`, 'x'),
  'Host with 15,000 characters': () => get('', { Host: `${'xn--a.'.repeat(2500)}%` }),
  'SOAPAction of wrong escapes': () => ({ ...soap('HelloWorld', ''), ...action('%ff'.repeat(5000)) }),
  'SOAPAction of quotes': () => ({ ...soap('HelloWorld', ''), ...action(`x${"'".repeat(15_000)}x`) }),
  'SOAP 1.2, one text of 4 MB': () => inSoap12(soap('RecordEvent', `<a>${filled('x ', 4.1 * MEGABYTE)}</a>`)),
  'SOAP 1.2 action of quotes': () => ({
    ...soap('HelloWorld', ''),
    headers: { 'Content-Type': `application/soap+xml; action="${"'".repeat(7000)}x${"'".repeat(7000)}x"` },
  }),
  'Accept with 2,000 ranges': () => get('/HelloWorld', { Accept: range(2000, (i) => `a/${i}`).join() }),
  'Forwarded with 2,000 hops': () => get('/HelloWorld', { Forwarded: filled('for=1,', 15_000) }),
  'ce- attributes of escapes': () =>
    post('text/plain', 'x', { 'ce-id': '1', 'ce-type': 't', 'ce-specversion': '1.0', 'ce-source': '%41'.repeat(9950) }),
  'a target of 15,000 slashes': () => get('/'.repeat(15_000)),
  'a query of 5,000 fields': () => get(`/RecordEvent?${'a=%41&'.repeat(2500)}`),
  '64 pages pipelined': () => ({ ...get('?op=HelloWorld'), pipelined: 64 }),
  '1,000 waits on 16 connections, ended by one event': () => ({
    ...get(''),
    pipelined: 64,
    connections: 16,
    waits: true,
  }),
  'a page for an unknown operation': () => get(`?op=${'a'.repeat(15_000)}`),
  'page of XML that is never closed': () => page('text/xml', '<a>'.repeat(34_000)),
  'page of nested objects of JSON': () => page('application/json', '{"a":'.repeat(16_000) + '1' + '}'.repeat(16_000)),
  'page of a text of what cannot be seen': () => page('text/plain', '\u202E'.repeat(1_300_000)),
  'page of JSON with 350,000 members': () => page('application/json', `{${range(350_000, (i) => `"${i}":1`).join()}}`),
  'page of objects in a list of JSON': () => page('application/json', `[${'{"a":[1]},'.repeat(350_000)}1]`),
  'page of deeply nested JSON': () => page('application/json', '{"a":['.repeat(250_000) + '1' + ']}'.repeat(250_000)),
  'page of bytes': () => page('application/octet-stream', Buffer.alloc(3_900_000, 0xff)),
  'page of an image of 1 MiB': () =>
    page('image/png', Buffer.alloc(2 ** 20, '\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x04\0\0\0\x04\0', 'latin1')),
  'page of two texts that differ in all lines': () => comparison((i, of) => of + i),
  'page of two texts with lines of two kinds': () =>
    comparison((i, of) => (i % (of === 'a' ? 2 : 3) === 0 ? 'x' : 'y')),
  'page of two texts that differ in the order of their lines': () =>
    comparison((i, of) => (i * (of === 'a' ? 7919 : 104_729)) % 1000),
}).map(([what, request]) => ({ what, request }));

/** A message that is read twice, first quickly up to the processing instruction at its end. */
const withInstruction = (bytes) => () => soap('RecordEvent', `<p>${filled('<a xmlns:c="u"/>', bytes)}</p><?a?>`);

/** Calls that are timed while the service reads {@link BESIDE}, again and again. */
export const BESIDE = withInstruction(3.98 * MEGABYTE);
export const CALLS = Object.entries({
  'a small call': () => soap('HelloWorld', ''),
  'a message of 70 KB': withInstruction(70_000),
  'a message of 200 KB': withInstruction(200_000),
}).map(([what, request]) => ({ what: `${what} beside messages of 4 MB`, request }));

function nested(bytes) {
  const open = range(58, (i) => `<a xmlns:n${i}="u">`).join('');
  return `${open}${filled('<s:a/>', bytes)}${'</a>'.repeat(58)}`;
}

function security(bytes) {
  const names = range(16, (i) => `${String.fromCharCode(97 + i)}${'x'.repeat(1000)}`);
  const opened = names.map((name) => `<${name}>`).join('');
  const closed = names.map((name) => `</${name}>`).reverse();
  const inside = opened + filled('<a/>', bytes - 34_000) + closed.join('');
  const header = `<s:Header><w:Security xmlns:w="${WSSE}">${inside}</w:Security></s:Header>`;
  return soap('HelloWorld', '', { header });
}

function action(value) {
  return { headers: { 'Content-Type': 'text/xml', SOAPAction: value } };
}
