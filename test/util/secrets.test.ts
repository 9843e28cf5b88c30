import { AccessControl } from '../../src/access/access-control';
import { readConfig } from '../../src/config/config';
import { Secrets } from '../../src/util/secrets';

it.each([
  ["/x?access_token=a,b;c'd&e=1", '/x?access_token=***&e=1'],
  ["</x?access_token=a;b>; rel='next'", "</x?access_token=***>; rel='next'"],
  ["/x%3Faccess_token=a,b'c%26d", '/x%3Faccess_token=***%26d'],
  ['%252Fx%253Faccess%25255Ftoken%253Da%2526b', '%252Fx%253Faccess%25255Ftoken%253D***%2526b'],
  ['"{\\"access_token\\": \\"a\\"}"', '"{\\"access_token\\": \\"***\\"}"'],
])('an unknown access_token is cut out whole: %s', (text, cut) => {
  expect(new Secrets().cut(text)).toBe(cut);
});

it('keys are cut out without their names, and whole where one begins with another', () => {
  const config = readConfig({
    RECORD_KEYS: 'shop sixteen-characters',
    READ_KEYS: 'report sixteen-characters-and-more,a"quote\\with-backslash,no-backslash"quote',
    FORWARD_SECRETS: `whsec_${'k'.repeat(24)}`,
    EVENT_LOG_PASSWORD: 'for the database',
  });
  const secrets = new Secrets(AccessControl.secretsIn(config));
  expect(secrets.cut('shop sixteen-characters report sixteen%2Dcharacters-and-more')).toBe('shop *** report ***');
  expect(secrets.cut(`whsec_${'k'.repeat(24)} for the database`)).toBe('*** ***');
  // It is in many texts by chance.
  expect(AccessControl.secretsIn(readConfig({ EVENT_LOG_PASSWORD: 'database' }))).toEqual([]);
  const json = '{"a":"a\\"quote\\\\with-backslash","b":"sixteen\\u002dcharacters"}';
  expect(secrets.cutJson(json)).toBe('{"a":"***","b":"***"}');
  expect(secrets.cutJson('{"a":"no-backslash\\"quote"}')).toBe('{"a":"***"}');
  expect(secrets.cut('/x?k=sixteen%252dcharacters')).toBe('/x?k=***');
});
