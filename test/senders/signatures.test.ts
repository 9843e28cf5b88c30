import crypto from 'node:crypto';
import { Sender, type SenderSecrets } from '../../src/senders/sender';
import { secretKey } from '../../src/senders/signature';
import { DELIVERIES, SECRETS, type Fields } from '../support/deliveries';

/** In seconds since 1970. */
const NOW = 1_800_000_000;
const KNOWN: SenderSecrets = {
  webhookSecrets: SECRETS.WEBHOOK_SECRETS.split(','),
  stripeSecrets: ['an-earlier-secret', SECRETS.STRIPE_SECRETS],
  shopifySecrets: [SECRETS.SHOPIFY_SECRETS],
  slackSecrets: [SECRETS.SLACK_SECRETS],
  gitlabTokens: ['an-earlier-token', SECRETS.GITLAB_TOKENS],
};

const BODY = '{"a":"ä"}';

const at = (seconds: number) => jest.spyOn(Date, 'now').mockReturnValue(seconds * 1000);
beforeEach(() => {
  at(NOW);
  // What identifies a secret takes 50 ms to compute.
  jest.spyOn(crypto, 'scryptSync').mockReturnValue(Buffer.of());
});

/** Resolves to the name of who signed, to why nobody did, or to undefined if there is no signature. */
async function signerOf(headers: Record<string, string | undefined>, body: string | Buffer = BODY, secrets = KNOWN) {
  const found = await Sender.signaturesFor(secrets).read(headers)?.signerOf(Buffer.from(body));
  return typeof found === 'object' ? found.sender.name : found;
}

const lowerCase = (fields: Fields) =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toLowerCase(), value]));

/** Signs as a sender does now. */
function signed(name: string, id: string, body: string, secrets = KNOWN): Fields {
  const { signature } = Sender.named(name) ?? {};
  const own = signature && secrets[signature.setting]?.filter((secret) => signature.keysOf([secret]).length > 0);
  return signature?.sign(id, Buffer.from(body), own?.slice(-1) ?? []) ?? {};
}

describe.each(DELIVERIES.filter(({ event, isNamedByFields }) => event.signedBy !== undefined && !isNamedByFields))(
  'the signature of $what',
  ({ event: { signedBy = '' }, fields, body }) => {
    const setting = Sender.named(signedBy)?.signature?.setting ?? 'webhookSecrets';
    let headers: Fields;
    beforeEach(() => {
      headers = lowerCase(fields(body, 'an-id'));
    });

    it('is valid, and is no signature without a secret for it', async () => {
      expect(await signerOf(headers, body)).toBe(signedBy);
      expect(await signerOf(headers, body, { ...KNOWN, [setting]: undefined })).toBeUndefined();
    });

    it('is written anew as the sender writes it', () => {
      expect(headers).toMatchObject(signed(signedBy, 'an-id', body));
    });

    it('is not valid for another body, under another secret, or with other fields', async () => {
      const other = [`whsec_${Buffer.alloc(24).toString('base64')}`, 'another-secret-16'];
      expect(await signerOf(headers, body, { ...KNOWN, [setting]: other })).toMatch(
        / is not valid( for this body)?\.$/,
      );
      if (signedBy !== 'GitLab') expect(await signerOf(headers, `${body} `)).toMatch(/ is not valid for this body\.$/);
      for (const [field, value] of Object.entries(signed(signedBy, 'an-id', body)))
        for (const changed of [`${value.slice(0, -4)}AAA0`, value.slice(0, -2), ''].filter(
          () => !field.endsWith('-id'),
        ))
          expect((await signerOf({ ...headers, [field]: changed }, body)) ?? 'not valid').toMatch(
            /not valid|seconds from/,
          );
    });

    it('counts for five minutes, if it covers the time', async () => {
      const isTimed = !['GitHub', 'GitLab', 'Shopify'].includes(signedBy);
      for (const [seconds, problem] of [
        [-300, undefined],
        [300, undefined],
        [-301, 'more than 300 seconds from the time'],
        [301, 'more than 300 seconds from the time'],
      ] as const) {
        at(NOW + seconds);
        expect(await signerOf(headers, body)).toContain(isTimed && problem ? problem : signedBy);
      }
    });
  },
);

it.each<[name: string, time: number, secrets: SenderSecrets, headers: Fields, body: string]>([
  [
    'X-Hub-Signature-256',
    0,
    { webhookSecrets: ["It's a Secret to Everybody"] },
    { 'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    'Hello, World!',
  ],
  [
    'Slack',
    1_531_420_618,
    { slackSecrets: ['8f742231b10e8888abcd99yyyzzz85a5'] },
    {
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
      '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
  ],
])(
  'the signature that the documentation of %s prints is valid, and written so',
  async (name, time, secrets, headers, body) => {
    at(time + 0.999);
    expect(await signerOf(headers, body, secrets)).toBe(name);
    expect(signed(name, 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, secrets)).toEqual(headers);
  },
);

const BAD_STANDARD = 'The webhook-signature is not valid.';
const BAD_TIME = 'The webhook-timestamp is missing or not valid.';
const HUB = 'X-Hub-Signature-256';
const BAD_HUB = 'The x-hub-signature-256 is not valid';
const BAD_STRIPE = 'The stripe-signature is not valid';

describe('a signature', () => {
  let own: Fields;
  let hex: string;
  let stripe: string;
  beforeEach(() => {
    own = signed('Standard Webhooks', 'msg', BODY);
    hex = (signed('GitHub', '', BODY)['x-hub-signature-256'] ?? '').replace('sha256=', '');
    stripe = signed('Stripe', '', BODY)['stripe-signature'] ?? '';
  });
  const hub = (text: string): Fields => ({ 'x-hub-signature-256': text });
  const stripeWith = (part: string, other: string): Fields => ({ 'stripe-signature': stripe.replace(part, other) });
  const amongOthers = (others: number) => stripeWith(',', `,${'v1=00,'.repeat(others)}`);
  const afterOthers = (others: number) => ({
    'webhook-signature': `${'v1,AAAA '.repeat(others)}${String(own['webhook-signature'])} v1,x`,
  });
  const ZEROS = `v1,${Buffer.alloc(32).toString('base64')}`;

  it.each<[string, () => Record<string, string | undefined>, string | undefined]>([
    ['eighth of many', () => afterOthers(7), 'Standard Webhooks'],
    ['ninth of many', () => afterOthers(8), BAD_STANDARD],
    ['with a full stop in the id', () => ({ 'webhook-id': 'a.b' }), 'The webhook-id of the signature is not valid.'],
    ['without an id, as of another kind', () => ({ 'webhook-id': undefined }), undefined],
    ['of bare digits, as GoCardless has', () => ({ 'webhook-signature': hex }), undefined],
    ['with text after its time', () => ({ 'webhook-timestamp': `${String(NOW)}x` }), BAD_TIME],
    ['with a time of 13 digits', () => ({ 'webhook-timestamp': '1'.repeat(13) }), BAD_TIME],
    ['beside a wrong one', () => hub(''), 'Standard Webhooks'],
    ['wrong beside a right one', () => ({ 'webhook-signature': 'v1,AAAA', ...hub(`sha256=${hex}`) }), HUB],
    [
      'wrong for this body beside a wrong one',
      () => ({ 'webhook-signature': ZEROS, ...hub('') }),
      `${BAD_HUB} for this body.`,
    ],
  ])('%s is checked', async (_what, given, expected) => {
    expect(await signerOf({ ...own, ...given() })).toBe(expected);
  });

  it.each<[string, () => Fields, string | undefined]>([
    ['capital letters', () => hub(`SHA256=${hex.toUpperCase()}`), HUB],
    ['text before it', () => hub(`xsha256=${hex}`), `${BAD_HUB}.`],
    ['text after it', () => hub(`sha256=${hex}00`), `${BAD_HUB}.`],
    ['the older name', () => ({ 'x-hub-signature': `sha256=${hex}` }), HUB],
    ['SHA-1 under the older name', () => ({ 'x-hub-signature': `sha1=${hex.slice(0, 40)}` }), undefined],
    ['spaces', () => stripeWith(',', ' , '), 'Stripe'],
    ['one of an old scheme', () => stripeWith(',', ',v0=00,'), 'Stripe'],
    ['an old scheme', () => stripeWith('v1', 'v0'), `${BAD_STRIPE}.`],
    ['seven others', () => amongOthers(7), 'Stripe'],
    ['eight others', () => amongOthers(8), `${BAD_STRIPE}.`],
    ['no time', () => stripeWith('t=', 'x='), 'The time (t=) in stripe-signature is missing or not valid.'],
    ['another time', () => stripeWith(String(NOW), String(NOW + 1)), `${BAD_STRIPE} for this body.`],
  ])('with %s is checked', async (_what, headers, expected) => {
    expect(await signerOf(headers())).toBe(expected);
  });
});

it('a secret has the same name in the log after every start, or deliveries that come again would be recorded again', () => {
  jest.restoreAllMocks();
  expect(secretKey(Buffer.from('a secret')).id()).toBe('yJV4BTBS');
});
