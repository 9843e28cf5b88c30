import type { AccessControl } from '../access/access-control';
import type { Config } from '../config/config';
import type { Contract } from '../contract/contract';
import type { Callers } from '../http/callers';
import type { BodyReader } from '../http/content/body';
import type { MediaType } from '../http/content/media-type';
import type { RateLimit } from '../http/rate-limit';
import type { EventLog } from '../log/event-log';
import type { Service } from '../service/call';
import type { Observer } from '../telemetry/observer';
import type { Refusals } from '../telemetry/refused-calls';
import type { Admission } from './admission';
import type { ReaderThread } from './reader-thread';

/** All that the calls and the pages of the endpoint share. `app.ts` makes it once. */
export interface Endpoint {
  readonly config: Pick<Config, 'limits' | 'webhookOrigins' | 'senderHandshakes' | 'recordPaths' | 'recordAnswer'>;
  /** With a leading slash. */
  readonly path: string;
  readonly contract: Contract;
  readonly service: Service;
  readonly log: EventLog;
  readonly callers: Callers;
  readonly rate: RateLimit;
  readonly access: AccessControl;
  readonly admission: Admission;
  readonly bodies: BodyReader;
  readonly reader: ReaderThread;
  /** Reads a `Content-Type`, and remembers those that come again and again. */
  mediaType(this: void, value: string): MediaType | undefined;
  readonly observer: Pick<Observer, 'ended' | 'hint'>;
  /** The refused and failed calls of all processes of the service. */
  refusals(this: void): Promise<Refusals>;
}
