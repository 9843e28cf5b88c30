import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/config/config';
import { XmlElement } from '../../src/xml/xml-tree';

const ROOT = join(__dirname, '..', '..');
/** Those in its folders belong to docs/containers.md and docs/migrating.md. */
const DEPLOYED = readdirSync(join(ROOT, 'deploy'), { withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ name }) => name);
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  ...readdirSync(join(ROOT, 'docs')).map((name) => `docs/${name}`),
]
  .filter((name) => name.endsWith('.md'))
  .map((name) => ({ name, text: readFileSync(join(ROOT, name), 'utf8') }));

const pageOf = (name: string) => PAGES.find((page) => page.name === name)?.text ?? '';

/** What stands in a file of deploy/: a section of a unit, a directive of nginx, an element of WinSW. */
const OF_A_FILE =
  /^\s*(?:\[(?:Unit|Service|Timer|Install)\]$|(?:upstream|server|location)\b[^;\n]*\{|proxy_\w+ |<service>|<executable>)/m;

describe('the files of deploy/', () => {
  it('stand in no document a second time', () => {
    for (const name of DEPLOYED) expect(readFileSync(join(ROOT, 'deploy', name), 'utf8')).toMatch(OF_A_FILE);
    for (const { name, text } of PAGES) expect([name, OF_A_FILE.exec(text)?.[0]]).toEqual([name, undefined]);
  });

  it('are each linked from a document', () => {
    const isLinked = (name: string) => PAGES.some(({ text }) => text.includes(`](../deploy/${name})`));
    expect(DEPLOYED.filter((name) => !isLinked(name))).toEqual([]);
  });
});

it.each(['nginx.conf', 'compose/nginx.conf'])(
  '%s sends no request below RecordEvent to a second instance, and no forwarded field of a caller on',
  (file) => {
    const text = readFileSync(join(ROOT, 'deploy', file), 'utf8');
    for (const name of [
      'Forwarded',
      ...['For', 'Host', 'Port', 'Prefix', 'Proto'].map((field) => `X-Forwarded-${field}`),
    ])
      expect(text).toContain(`proxy_set_header ${name} `);
    const locations = [...text.matchAll(/location (?:~\* )?(\S+) \{([^}]*)\}/g)];
    for (const path of ['/RecordEvent', '/RecordEvent/orders/17']) {
      const [, , body] = locations
        .filter(([, pattern = '']) => pattern !== '/')
        .find(([, pattern = '']) => new RegExp(pattern, 'i').test(`/webhooks/Services/WebHooks.asmx${path}`)) ?? [''];
      expect([path, body]).toEqual([path, expect.stringContaining('proxy_next_upstream off;')]);
    }
  },
);

const headings = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replace(/ /g, '-'),
  );

it.each(PAGES)('the links of $name lead to files and headings that exist', ({ name, text }) => {
  const links = [...text.matchAll(/\]\(([^()\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^https?:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? join(ROOT, name) : join(ROOT, name, '..', path);
    return !existsSync(file) || (anchor !== undefined && !headings(readFileSync(file, 'utf8')).includes(anchor));
  });
  expect(broken).toEqual([]);
});

it('docs/architecture.md names only files and folders that exist', () => {
  const [, tree = '', rest = ''] = /^## The tree\n(.*?)\n\n(?=\S)(.*)/ms.exec(pageOf('docs/architecture.md')) ?? [];
  const all = readdirSync(join(ROOT, 'src'), { recursive: true }).map(String);
  const inTree = [...tree.matchAll(/(?<![\w./-])[\w-]+\.(?:ts|wsdl|mjs)\b/g)].map(([name]) => name);
  const paths = [...rest.matchAll(/`((?:[\w-]+\/)*[\w-]+\.ts|(?:src|test|docs)\/[\w./-]+)`/g)].map(
    ([, path = '']) => path,
  );
  const places = ['', 'src', 'wsdl', 'scripts'];
  const isThere = (name: string) =>
    places.some((place) => existsSync(join(ROOT, place, name))) || all.some((file) => file.endsWith(`/${name}`));
  expect(inTree.length).toBeGreaterThan(20);
  expect(paths.length).toBeGreaterThan(20);
  expect([...inTree, ...paths].filter((name) => !isThere(name))).toEqual([]);
});

it('docs/promises.md numbers its promises, and names only files that exist, a test for each among them', () => {
  const page = pageOf('docs/promises.md');
  const promises = page.split(/^(?=\d+\. )/m).slice(1);
  expect(promises.length).toBeGreaterThan(10);
  for (const [i, text] of promises.entries()) {
    expect(parseInt(text)).toBe(i + 1);
    expect(text).toMatch(/\bproved by [^]*?`test\/[\w/.-]+\.ts`/i);
  }
  const named = [...page.matchAll(/`((?:src|test|scripts)\/[^`]*)`/g)].map(([, path = '']) => path);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

/** The elements of docs/xml-config-file.md and docs/logging-and-error-reporting.md of WinSW that 2.12 and 3 share. */
const WINSW = (
  'id name description executable startmode delayedAutoStart depend logpath log argument arguments startargument ' +
  'startarguments stopargument stoparguments stopexecutable prestart poststart prestop poststop stoptimeout env interactive ' +
  'beeponshutdown download onfailure resetfailure workingdirectory priority ' +
  'log/sizeThreshold log/keepFiles log/pattern log/autoRollAtTime'
).split(' ');

it('deploy/webhook-winsw.xml is well-formed, and has only elements that WinSW knows', () => {
  const service = XmlElement.read(readFileSync(join(ROOT, 'deploy', 'webhook-winsw.xml'), 'utf8'));
  const pathsIn = (element: XmlElement, path = ''): string[] =>
    element.children().flatMap((child) => [path + child.name, ...pathsIn(child, `${path}${child.name}/`)]);
  const paths = pathsIn(service);
  expect([service.name, ...paths.filter((element) => !WINSW.includes(element))]).toEqual(['service']);
  expect(paths).toEqual(
    expect.arrayContaining(['id', 'name', 'description', 'executable', 'stoptimeout', 'onfailure']),
  );
});

describe('deploy/iis/web.config', () => {
  const file = readFileSync(join(ROOT, 'deploy', 'iis', 'web.config'), 'utf8');
  const [, pattern = '', action = ''] = /<match url="(.*?)".*\n.*<action .*? url="(.*?)"/.exec(file) ?? [];
  /** Where the rule sends a path, as URL Rewrite evaluates it: without the first slash, in any letter case. Undefined if nowhere. */
  const target = (path: string) => {
    const match = new RegExp(pattern, 'i').exec(path.slice(1));
    return match === null ? undefined : action.replace('{R:0}', match[0]);
  };

  it('sends the endpoint of a service with default settings there, and nothing else', () => {
    const { path, host, port } = readConfig({});
    for (const each of [path, path.toLowerCase(), `${path}/HelloWorld`])
      expect(target(each)).toBe(`http://${host}:${String(port)}${each}`);
    for (const each of ['/', '/webhooks/', `${path}x`, `/a${path}`]) expect(target(each)).toBeUndefined();
  });

  it('is well-formed, has the rule that its page shows, and leaves faults as they are', () => {
    const trimmed = (text: string) => text.replace(/^ +/gm, '');
    const [rule = 'none'] = /<rule .*?<\/rule>/s.exec(pageOf('docs/migrating.md')) ?? [];
    expect(trimmed(file)).toContain(trimmed(rule));
    const [server] = XmlElement.read(file).children('', 'system.webServer');
    expect(server?.children('', 'httpErrors')[0]?.attribute('existingResponse')).toBe('PassThrough');
  });
});
