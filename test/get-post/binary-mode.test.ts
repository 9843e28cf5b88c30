import { binaryModeAttributes, isBinaryMode } from '../../src/get-post/binary-mode';

const REQUIRED = { 'ce-specversion': '1.0', 'ce-id': '1', 'ce-source': '/o', 'ce-type': 't' };
const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/o', type: 't' };

describe('binary content mode', () => {
  it.each(Object.entries(REQUIRED))('is announced by %s', (name, value) => {
    expect(isBinaryMode({ [name]: value })).toBe(true);
  });

  it.each([{}, { 'ce-subject': 's' }, { id: '1' }, { 'x-ce-id': '1' }])('is not announced by %j', (headers) => {
    expect(isBinaryMode(headers)).toBe(false);
  });

  it('takes the attributes from ce- fields, and datacontenttype from Content-Type alone', () => {
    const headers = { host: 'x', 'x-ce-a': '1', 'ce-datacontenttype': 'a/b' };
    expect(binaryModeAttributes({ ...headers, ...REQUIRED, 'ce-ext': '7' })).toEqual({ ...ATTRIBUTES, ext: '7' });
    expect(binaryModeAttributes({ ...headers, ...REQUIRED, 'content-type': 'text/plain' })).toEqual({
      ...ATTRIBUTES,
      datacontenttype: 'text/plain',
    });
  });

  it.each([
    ['%41%2541', 'A%41'],
    ['Euro%20%e2%82%AC', 'Euro €'],
    ['"a b"', 'a b'],
    ['"a \\"b\\" \\\\c"', 'a "b" \\c'],
    ['"a%20%22b"', 'a "b'],
    ['"%5C%22"', '\\"'],
    ['"%25zz"', '%zz'],
    ['a "b"', 'a "b"'],
    ['"a" b', '"a" b'],
    ['"a', '"a'],
    ['"a\\"', '"a\\"'],
    ['a\\"', 'a\\"'],
    [Buffer.from('Grüße 😀').toString('latin1'), 'Grüße 😀'],
  ])('decodes the value %s', (value, subject) => {
    expect(binaryModeAttributes({ ...REQUIRED, 'ce-subject': value })).toEqual({ ...ATTRIBUTES, subject });
  });

  it.each(['%C0%A0', '%FF', '%ED%A0%80', '"%ff"', '\xff', '%', '100%', '%zz', '%4', '%4g', '"a%"', '%41%'])(
    'refuses the value %s',
    (value) => {
      expect(() => binaryModeAttributes({ ...REQUIRED, 'ce-ext': value })).toThrow(
        "The CloudEvent's attribute ext must be percent-encoded UTF-8 in a header field.",
      );
    },
  );

  it.each(['data', 'data_base64'])('refuses %s as a header field', (name) => {
    expect(() => binaryModeAttributes({ ...REQUIRED, [`ce-${name}`]: 'eA==' })).toThrow(
      `The CloudEvent's ${name} must be the body of the request, not the field ce-${name}.`,
    );
  });

  it('refuses attributes that are not valid', () => {
    expect(() => binaryModeAttributes({ 'ce-id': '1' })).toThrow("The CloudEvent's attribute");
  });
});
