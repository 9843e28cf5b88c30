import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BINDINGS } from '../support/bindings';
import { CLIENTS, EXTENDED, type Check, type Client } from './clients';

const PROGRAMS = join(__dirname, 'clients');
const page = readFileSync(join(__dirname, '..', '..', 'docs', 'clients.md'), 'utf8');
const shown = [...page.matchAll(/<!-- (\S+) -->\n\n```\w+\n([^]*?)\n```/g)].map(([, file = '', code = '']) => ({
  file,
  lines: trimmed(code),
}));
const rows = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));

describe('docs/clients.md', () => {
  it.each(CLIENTS)('says over which bindings $name sends, pages and waits', (client) => {
    const [, ...titles] = rows.find(([, title]) => title === 'client') ?? [];
    const [, ...cells] = rows.find(([, name]) => name === client.name) ?? [];
    const said = Object.fromEntries(titles.map((title, i) => [title, cells[i]]));
    expect(said).toMatchObject(Object.fromEntries(EXTENDED.map((check) => [check, bindingsOf(client, check)])));
  });

  it.each(shown)('shows lines of $file as they are run', ({ file, lines }) => {
    expect(markedIn(file)).toContainEqual(lines);
  });

  it('shows all lines that the programs mark', () => {
    const files = readdirSync(PROGRAMS, { recursive: true, encoding: 'utf8' });
    const marked = files.filter((file) => /\.\w+$/.test(file)).flatMap(markedIn);
    expect(marked.length).toBeGreaterThan(CLIENTS.length);
    for (const lines of marked) expect(shown.map((block) => block.lines)).toContainEqual(lines);
  });
});

/** The blocks that a program marks for the page. */
function markedIn(file: string): string[][] {
  const source = readFileSync(join(PROGRAMS, file), 'utf8');
  return [...source.matchAll(/docs:begin\n([^]*?)\n[^\n]*docs:end/g)].map(([, block = '']) => trimmed(block));
}

function trimmed(code: string): string[] {
  return code
    .trim()
    .split('\n')
    .map((line) => line.trim());
}

/** Over which bindings a client passes a check, in the words of the page. */
function bindingsOf(client: Client, check: Check): string {
  const bindings = BINDINGS.filter((binding) => client.checks[binding]?.includes(check));
  const words: Readonly<Record<number, string>> = { 0: '–', 1: 'SOAP 1.1', 2: 'SOAP', 4: 'all four' };
  return words[bindings.length] ?? bindings.join(', ');
}
