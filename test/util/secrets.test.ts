import { Secrets } from '../../src/util/secrets';

it.each([
  ["/x?access_token=a,b;c'd&e=1", '/x?access_token=***&e=1'],
  ["</x?access_token=a;b>; rel='next'", "</x?access_token=***>; rel='next'"],
  ["/x%3Faccess_token=a,b'c%26d", '/x%3Faccess_token=***%26d'],
])('an unknown access_token is cut out whole: %s', (text, cut) => {
  expect(new Secrets().cut(text)).toBe(cut);
});
