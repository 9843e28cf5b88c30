import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { XmlElement } from '../../src/xml/xml-tree';
import { readConfig } from '../../src/config/config';

const ROOT = join(__dirname, '..', '..');

function inside(element: XmlElement, ...path: readonly string[]): XmlElement {
  const [name, ...rest] = path;
  if (name === undefined) return element;
  const [child] = element.children('', name);
  if (child === undefined) throw new Error(`${element.name} has no ${name}`);
  return inside(child, ...rest);
}

describe('the web.config for IIS', () => {
  let file: string;
  let server: XmlElement;
  beforeAll(async () => {
    file = await readFile(join(ROOT, 'deploy', 'iis', 'web.config'), 'utf8');
    server = inside(XmlElement.read(file), 'system.webServer');
  });

  /** Where the rule sends a path, as URL Rewrite evaluates it: without the first slash, in any letter case. Undefined if nowhere. */
  function target(path: string): string | undefined {
    const rule = inside(server, 'rewrite', 'rules', 'rule');
    const pattern = new RegExp(inside(rule, 'match').attribute('url') ?? '', 'i');
    const match = pattern.exec(path.slice(1));
    return match === null ? undefined : inside(rule, 'action').attribute('url')?.replace('{R:0}', match[0]);
  }

  it('sends the endpoint of a service with default settings there, and nothing else', () => {
    const config = readConfig({});
    const path = config.path;
    const service = `http://${config.host}:${String(config.port)}`;
    for (const each of [path, path.toLowerCase(), `${path}/HelloWorld`]) expect(target(each)).toBe(service + each);
    for (const each of ['/', '/webhooks/', `${path}x`, `/a${path}`]) expect(target(each)).toBeUndefined();
  });

  it('leaves faults as they are', () => {
    expect(inside(server, 'httpErrors').attribute('existingResponse')).toBe('PassThrough');
  });

  it('has the rule that its page shows', async () => {
    const page = await readFile(join(ROOT, 'docs', 'migrating.md'), 'utf8');
    const [rule = ''] = /<rule .*?<\/rule>/s.exec(page) ?? [];
    const lines = (text: string): string[] => text.split('\n').map((line) => line.trim());
    expect(lines(file).join('\n')).toContain(lines(rule).join('\n'));
  });
});
