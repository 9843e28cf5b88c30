import type { Config } from '../config/config';
import type { Callers } from '../http/callers';
import { HTTP_ERRORS } from '../http/errors';
import { rulesOf, withoutName, type AccessRules } from './access-rules';
import { Caller, type GuardedRequest } from './caller';

import { openServiceWarnings, otherSites, type LocalConfig } from './local-callers';

/** Decides who may call, and who may look at the pages of the events. */
export class AccessControl {
  rules: AccessRules;

  constructor(config: LocalConfig, callers: Pick<Callers, 'baseUrl'>) {
    this.rules = rulesOf(config, otherSites(callers));
  }

  /** The values of the settings that are secret, without the names of keys. */
  static secretsIn({ access, forwardSecrets = [] }: Pick<Config, 'access' | 'forwardSecrets'>): string[] {
    const { recordKeys = [], readKeys = [], ...secrets } = access;
    return [
      ...[...recordKeys, ...readKeys].map(withoutName),
      ...[...Object.values(secrets), forwardSecrets].flatMap((values) => values ?? []),
    ];
  }

  static readonly warningsFor = openServiceWarnings;

  use(config: LocalConfig): void {
    this.rules = rulesOf(config, this.rules.otherSite);
  }

  /** The credentials for each access. Any one is enough; an empty list means that none is needed. */
  get credentials(): AccessRules['credentials'] {
    return this.rules.credentials;
  }

  caller(request: GuardedRequest): Caller {
    return new Caller(request, this);
  }

  /** Lets a request read events or metrics that no operation returns; throws as for an operation that reads. */
  checkReader(request: GuardedRequest): void {
    this.caller(request).require('read');
  }

  /** Lets a request ask for the pages of the operator's own address, of which only what it was made for keeps others out. */
  readonly checkOperator = (request: GuardedRequest): void => {
    const shownBy = this.rules.otherSite(request);
    if (shownBy !== undefined) throw HTTP_ERRORS.otherSite(shownBy);
    this.rules.checkName(request);
  };

  /** Lets a request look at the pages of the events, which show more than `GetEvents`: without READ_KEYS only from this machine. */
  checkViewer(request: GuardedRequest): void {
    if (this.rules.otherSite(request) !== undefined) throw HTTP_ERRORS.otherSiteLink();
    if (this.rules.guards.read) this.checkReader(request);
    else this.rules.checkLocalViewer(request);
  }
}
