import { eventLogAddress } from '../log/engines';
import {
  baseUrl,
  duration,
  eventType,
  file,
  flag,
  forwardedHeader,
  handshakes,
  host,
  hostNames,
  keys,
  logLevel,
  MEBIBYTE,
  namespace,
  origins,
  password,
  pathSegment,
  protocols,
  rate,
  senderSecrets,
  standardSecrets,
  timeout,
  trustProxy,
  webhookSecrets,
  wholeNumber,
  workers,
} from './values';
import { optional, required } from './variable';

/**
 * Every variable that the service reads, at the place of its setting in the configuration. Sizes are in bytes, times in
 * milliseconds. `docs/configuration.md` is checked against this table.
 */
export const VARIABLES = {
  host: required('HOST', host, {
    group: 'Address',
    default: '127.0.0.1',
    description: 'address to listen on',
    supervised: true,
  }),
  port: required('PORT', wholeNumber(0, 65535), {
    group: 'Address',
    default: '8080',
    description: 'TCP port; `0` picks a free one',
    supervised: true,
  }),
  serviceRoot: required('SERVICE_ROOT', pathSegment, {
    group: 'Address',
    default: 'webhooks',
    description: 'first segment of the path',
  }),
  namespace: required('SERVICE_NAMESPACE', namespace, {
    group: 'Address',
    default: 'http://tempuri.org/',
    description: 'XML namespace of the operations and their SOAPActions',
  }),
  /** Without a trailing slash. */
  baseUrl: optional('BASE_URL', baseUrl, {
    group: 'Address',
    otherwise: 'from each request',
    description: 'public address for the WSDL and links',
  }),
  /** A number of proxies, or networks as `proxy-addr` takes them. */
  trustProxy: required('TRUST_PROXY', trustProxy, {
    group: 'Address',
    default: '0',
    description: 'proxies whose forwarded header fields count',
  }),
  forwardedHeader: required('FORWARDED_HEADER', forwardedHeader, {
    group: 'Address',
    default: 'x-forwarded',
    description: 'fields that those proxies write: `x-forwarded` or `forwarded`',
  }),
  protocols: required('PROTOCOLS', protocols, {
    group: 'Protocols',
    default: 'soap11,soap12,httpget,httppost',
    description: 'bindings over which calls are answered',
  }),
  documentation: required('DOCUMENTATION', flag, {
    group: 'Protocols',
    default: 'true',
    description: '`false`: no WSDL, discovery document and service pages',
  }),
  eventLog: required('EVENT_LOG', eventLogAddress.locate, {
    group: 'Events',
    default: 'sqlite:data/events.db',
    description: 'where events are kept',
    redact: eventLogAddress.withoutSecrets,
    supervised: true,
  }),
  /** For PostgreSQL. */
  eventLogPassword: optional('EVENT_LOG_PASSWORD', password, {
    group: 'Events',
    secret: true,
    description: 'password for PostgreSQL',
    supervised: true,
  }),
  eventLogTimeout: required('EVENT_LOG_TIMEOUT', timeout, {
    group: 'Events',
    default: '5s',
    description: 'longest time that a call waits for NATS or PostgreSQL',
  }),
  eventType: optional('EVENT_TYPE', eventType, {
    group: 'Events',
    otherwise: '`webhook.recorded`',
    description: '`type` of an event whose sender named none',
  }),
  /** Host names, or `*` alone. */
  webhookOrigins: optional('WEBHOOK_ORIGINS', origins, {
    group: 'Events',
    description: 'senders granted the CloudEvents webhook handshake; `*`: all',
  }),
  senderHandshakes: optional('SENDER_HANDSHAKES', handshakes, {
    group: 'Events',
    description: 'senders whose question about the address is answered',
  }),
  recordPaths: required('RECORD_PATHS', flag, {
    group: 'Events',
    default: 'false',
    description: '`true`: records addresses below `RecordEvent/`',
  }),
  getEventsLimit: required('GET_EVENTS_LIMIT', wholeNumber(1, 10_000), {
    group: 'Events',
    default: '100',
    description: 'maximum events per response of `GetEvents`',
  }),
  getEventsMaxBytes: required('GET_EVENTS_MAX_BYTES', wholeNumber(32_768, 64 * MEBIBYTE), {
    group: 'Events',
    default: '60000',
    description: 'maximum bytes per response of `GetEvents`',
  }),
  retentionMaxEvents: optional('RETENTION_MAX_EVENTS', wholeNumber(1, 1e15), {
    group: 'Events',
    description: 'maximum events kept; the oldest go first',
    supervised: true,
  }),
  retentionMaxAge: optional('RETENTION_MAX_AGE', duration, {
    group: 'Events',
    description: 'how long an event is kept',
    supervised: true,
  }),
  /** In lower case. */
  allowedHosts: optional('ALLOWED_HOSTS', hostNames, {
    group: 'Access',
    description: 'further names, in `Host`, of a service without keys on a loopback address',
  }),
  /** Who may call. A kind of call without an entry is open to everybody. */
  access: {
    recordKeys: optional('RECORD_KEYS', keys, {
      group: 'Access',
      secret: true,
      description: 'keys for `RecordEvent`',
    }),
    readKeys: optional('READ_KEYS', keys, {
      group: 'Access',
      secret: true,
      description: 'keys for `GetEvents`, the pages of the events, and `/metrics` on the public address',
    }),
    webhookSecrets: optional('WEBHOOK_SECRETS', webhookSecrets, {
      group: 'Access',
      secret: true,
      description: 'secrets of senders that sign as Standard Webhooks or GitHub do',
    }),
    stripeSecrets: optional('STRIPE_SECRETS', senderSecrets, {
      group: 'Access',
      secret: true,
      description: 'signing secrets of Stripe endpoints',
    }),
    shopifySecrets: optional('SHOPIFY_SECRETS', senderSecrets, {
      group: 'Access',
      secret: true,
      description: 'client secrets of Shopify apps',
    }),
    slackSecrets: optional('SLACK_SECRETS', senderSecrets, {
      group: 'Access',
      secret: true,
      description: 'signing secrets of Slack apps',
    }),
    gitlabTokens: optional('GITLAB_TOKENS', senderSecrets, {
      group: 'Access',
      secret: true,
      description: 'secret tokens of GitLab webhooks',
    }),
  },
  forwardSecrets: optional('FORWARD_SECRETS', standardSecrets, {
    group: 'Access',
    secret: true,
    description: 'secrets that sign the events that `asmx-webhook-events` forwards',
  }),
  /** Files in PEM. */
  tls: {
    cert: optional('TLS_CERT', file, {
      group: 'TLS',
      description: 'file with the certificate and its chain',
    }),
    key: optional('TLS_KEY', file, {
      group: 'TLS',
      description: 'file with the private key',
    }),
    clientCa: optional('TLS_CLIENT_CA', file, {
      group: 'TLS',
      description: 'file with the authorities that sign client certificates',
    }),
  },
  /** After decompression. */
  maxRequestBytes: required('MAX_REQUEST_BYTES', wholeNumber(1024, 256 * MEBIBYTE), {
    group: 'Limits',
    default: '4194304',
    description: 'maximum bytes in a request body, after decompression',
  }),
  limits: {
    requestTimeout: required('REQUEST_TIMEOUT', timeout, {
      group: 'Limits',
      default: '60s',
      description: 'longest time for a request to arrive, or its answer to be taken',
    }),
    keepAliveTimeout: required('KEEP_ALIVE_TIMEOUT', timeout, {
      group: 'Limits',
      default: '120s',
      description: 'longest time that a connection waits for its next request',
    }),
    maxConnections: required('MAX_CONNECTIONS', wholeNumber(1, 1_000_000), {
      group: 'Limits',
      default: '5000',
      description: 'maximum open connections',
    }),
    maxInFlight: required('MAX_IN_FLIGHT', wholeNumber(1, 100_000), {
      group: 'Limits',
      default: '1000',
      description: 'maximum calls in progress',
    }),
    maxWaiting: required('MAX_WAITING', wholeNumber(1, 1_000_000), {
      group: 'Limits',
      default: '4000',
      description: 'maximum calls that wait for events',
    }),
    maxBodyMemory: optional('MAX_BODY_MEMORY', wholeNumber(MEBIBYTE, 64 * 1024 * MEBIBYTE), {
      group: 'Limits',
      otherwise: '16 × `MAX_REQUEST_BYTES`',
      description: 'most memory for bodies over 64 KiB, and as much for answers',
    }),
    rate: optional('RATE_LIMIT', rate, {
      group: 'Limits',
      description: 'maximum requests per client address, as in `600/1m`',
    }),
  },
  admin: {
    port: optional('ADMIN_PORT', wholeNumber(0, 65535), {
      group: 'Operation',
      description: 'port for `/healthz`, `/readyz` and `/metrics`',
      supervised: true,
    }),
    host: required('ADMIN_HOST', host, {
      group: 'Operation',
      default: '127.0.0.1',
      description: 'address for `ADMIN_PORT`',
      supervised: true,
    }),
  },
  log: {
    level: required('LOG_LEVEL', logLevel, {
      group: 'Operation',
      default: 'info',
      description: '`debug`, `info`, `warn`, `error` or `silent`',
    }),
    access: required('ACCESS_LOG', flag, {
      group: 'Operation',
      default: 'false',
      description: '`true`: one log line for each request',
    }),
  },
  workers: required('WORKERS', workers, {
    group: 'Operation',
    default: '1',
    description: 'number of processes that answer; `auto`: one for each core',
    supervised: true,
  }),
};
