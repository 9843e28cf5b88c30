import { resolve } from 'node:path';
import { eventLogAddress } from '../log/engines';
import * as read from './values';
import { section } from './variable';

const address = section('Address');
const protocol = section('Protocols');
const events = section('Events');
const access = section('Access');
const tls = section('TLS');
const limits = section('Limits');
const operation = section('Operation');

/**
 * Every variable that the service reads, at the place of its setting in the configuration. Sizes are in bytes, times in
 * milliseconds. `docs/configuration.md` is checked against this table.
 */
export const VARIABLES = {
  host: address.required('HOST', read.host, {
    default: '127.0.0.1',
    description: 'address to listen on',
    supervised: true,
  }),
  port: address.required('PORT', read.wholeNumber(0, 65535), {
    default: '8080',
    description: 'TCP port; `0` picks a free one',
    supervised: true,
  }),
  serviceRoot: address.required('SERVICE_ROOT', read.pathSegment, {
    default: 'webhooks',
    description: 'first segment of the path',
  }),
  namespace: address.optional('SERVICE_NAMESPACE', read.namespace, {
    otherwise: '`http://tempuri.org/`',
    description: 'XML namespace of the operations and their SOAPActions',
  }),
  baseUrl: address.optional('BASE_URL', read.baseUrl, {
    otherwise: 'from each request',
    description: 'public address for the WSDL and links',
  }),
  trustProxy: address.required('TRUST_PROXY', read.trustProxy, {
    default: '0',
    description: 'proxies whose forwarded header fields are trusted',
  }),
  forwardedHeader: address.required('FORWARDED_HEADER', read.forwardedHeader, {
    default: 'x-forwarded',
    description: 'fields that those proxies write: `x-forwarded` or `forwarded`',
  }),
  protocols: protocol.required('PROTOCOLS', read.protocols, {
    default: 'soap11,soap12,httpget,httppost',
    description: 'bindings over which calls are answered',
  }),
  documentation: protocol.required('DOCUMENTATION', read.flag, {
    default: 'true',
    description: '`false`: no WSDL, discovery document and service pages',
  }),
  eventLog: events.required('EVENT_LOG', eventLogAddress.locate, {
    default: 'sqlite:data/events.db',
    description: 'where events are kept',
    redact: eventLogAddress.withoutSecrets,
    supervised: true,
  }),
  eventLogServer: {
    password: events.optional('EVENT_LOG_PASSWORD', read.password, {
      secret: true,
      description: 'password for PostgreSQL',
    }),
    timeout: events.required('EVENT_LOG_TIMEOUT', read.timeout, {
      default: '5s',
      description: 'longest time that a call waits for NATS or PostgreSQL',
    }),
  },
  eventType: events.optional('EVENT_TYPE', read.eventType, {
    otherwise: '`webhook.recorded`',
    description: '`type` of an event whose sender named none',
  }),
  webhookOrigins: events.optional('WEBHOOK_ORIGINS', read.origins, {
    description: 'senders granted the CloudEvents webhook handshake; `*`: all',
  }),
  senderHandshakes: events.optional('SENDER_HANDSHAKES', read.handshakes, {
    description: 'senders whose verification requests are answered',
  }),
  idempotencyFields: events.optional('IDEMPOTENCY_FIELDS', read.fieldNames, {
    description: 'further header fields that hold the id of a delivery',
  }),
  recordPaths: events.required('RECORD_PATHS', read.flag, {
    default: 'false',
    description: '`true`: records addresses below `RecordEvent/`',
  }),
  recordAnswer: events.required('RECORD_ANSWER', read.recordAnswer, {
    default: 'id',
    description: 'answer to a POST of `RecordEvent`; `empty`: 204 without a body',
  }),
  getEventsLimit: events.required('GET_EVENTS_LIMIT', read.wholeNumber(1, 10_000), {
    default: '100',
    description: 'maximum events per response of `GetEvents`',
  }),
  getEventsMaxBytes: events.required('GET_EVENTS_MAX_BYTES', read.wholeNumber(8000, 64 * read.MEBIBYTE), {
    default: '60000',
    description: 'maximum bytes per response of `GetEvents`',
  }),
  retention: {
    maxEvents: events.optional('RETENTION_MAX_EVENTS', read.wholeNumber(1, 1e15), {
      description: 'maximum events kept; the oldest go first',
      isReloaded: true,
    }),
    maxAge: events.optional('RETENTION_MAX_AGE', read.duration, {
      description: 'how long an event is kept',
      isReloaded: true,
    }),
  },
  allowedHosts: access.optional('ALLOWED_HOSTS', read.hostNames, {
    description: 'further names, in `Host`, of a service without keys, and of `ADMIN_PORT`',
  }),
  /** Who may call. A kind of call without an entry is open to everybody. */
  access: {
    recordKeys: access.secrets('RECORD_KEYS', read.keys, 'keys for `RecordEvent`'),
    readKeys: access.secrets(
      'READ_KEYS',
      read.keys,
      'keys for `GetEvents`, the pages of the events, and `/metrics` on the public address',
    ),
    webhookSecrets: access.secrets(
      'WEBHOOK_SECRETS',
      read.webhookSecrets,
      'secrets of senders that sign as Standard Webhooks or GitHub do',
    ),
    stripeSecrets: access.secrets('STRIPE_SECRETS', read.senderSecrets, 'signing secrets of Stripe endpoints'),
    shopifySecrets: access.secrets('SHOPIFY_SECRETS', read.senderSecrets, 'client secrets of Shopify apps'),
    slackSecrets: access.secrets('SLACK_SECRETS', read.senderSecrets, 'signing secrets of Slack apps'),
    gitlabTokens: access.secrets('GITLAB_TOKENS', read.senderSecrets, 'secret tokens of GitLab webhooks'),
  },
  forwardSecrets: access.secrets(
    'FORWARD_SECRETS',
    read.standardSecrets,
    'secrets that sign the events that `asmx-webhook events` forwards',
  ),
  tls: {
    cert: tls.optional('TLS_CERT', resolve, { description: 'file with the certificate and its chain' }),
    key: tls.optional('TLS_KEY', resolve, { description: 'file with the private key' }),
    clientCa: tls.optional('TLS_CLIENT_CA', resolve, {
      description: 'file with the authorities that sign client certificates',
    }),
  },
  maxRequestBytes: limits.required('MAX_REQUEST_BYTES', read.wholeNumber(1024, 256 * read.MEBIBYTE), {
    default: '4194304',
    description: 'maximum bytes in a request body, after decompression',
  }),
  limits: {
    requestTimeout: limits.required('REQUEST_TIMEOUT', read.timeout, {
      default: '60s',
      description: 'longest time for a request to arrive, or its answer to be read',
    }),
    keepAliveTimeout: limits.required('KEEP_ALIVE_TIMEOUT', read.timeout, {
      default: '120s',
      description: 'longest time that a connection waits for its next request',
    }),
    maxConnections: limits.required('MAX_CONNECTIONS', read.wholeNumber(1, 1_000_000), {
      default: '1000',
      description: 'maximum open connections',
    }),
    maxInFlight: limits.required('MAX_IN_FLIGHT', read.wholeNumber(1, 100_000), {
      default: '1000',
      description: 'maximum calls in progress',
    }),
    maxBodyMemory: limits.optional('MAX_BODY_MEMORY', read.wholeNumber(read.MEBIBYTE, 64 * 1024 * read.MEBIBYTE), {
      otherwise: '8 × `MAX_REQUEST_BYTES`',
      description: 'most memory for bodies over 4 KiB, and as much for answers',
    }),
    rate: limits.optional('RATE_LIMIT', read.rate, {
      description: 'maximum requests per client address, as in `600/1m`',
    }),
  },
  admin: {
    port: operation.optional('ADMIN_PORT', read.wholeNumber(0, 65535), {
      description: 'port for `/healthz`, `/readyz` and `/metrics`',
      supervised: true,
    }),
    host: operation.required('ADMIN_HOST', read.host, {
      default: '127.0.0.1',
      description: 'address for `ADMIN_PORT`',
      supervised: true,
    }),
  },
  log: {
    level: operation.required('LOG_LEVEL', read.logLevel, {
      default: 'info',
      description: '`debug`, `info`, `warn`, `error` or `silent`',
    }),
    access: operation.required('ACCESS_LOG', read.flag, {
      default: 'false',
      description: '`true`: one log line for each request',
    }),
  },
  workers: operation.required('WORKERS', read.workers, {
    default: '1',
    description: 'number of processes that answer; `auto`: one for each core',
    supervised: true,
  }),
};
