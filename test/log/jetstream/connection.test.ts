import { JetStreamApiError } from '@nats-io/jetstream';
import { isNoRoom, isSubjectTaken } from '../../../src/log/jetstream/connection';

/** What NATS answers, with this code. */
const refusal = (code: number, description = '') => new JetStreamApiError({ code: 500, err_code: code, description });

it.each([
  ['insufficient resources', 10023],
  ['the storage limit of the account', 10002],
  ['the storage limit of the server', 10047],
  ['maximum bytes exceeded', 10077],
  ['maximum messages exceeded', 10077],
])('NATS has no room: %s (%d)', (description, code) => {
  expect(isNoRoom(refusal(code, description))).toBe(true);
});

it.each([
  ['some other reason', 10077],
  ['stream not found', 10059],
  ['no leader', 10008],
])('NATS fails for another reason: %s (%d)', (description, code) => {
  expect(isNoRoom(refusal(code, description))).toBe(false);
});

it.each([10071, 10164])('NATS says in old and new versions that a subject is taken: %d', (code) => {
  expect(isSubjectTaken(refusal(code))).toBe(true);
  expect(isSubjectTaken(refusal(10077))).toBe(false);
});
