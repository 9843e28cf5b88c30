import { JetStreamApiError } from '@nats-io/jetstream';
import { isSubjectTaken } from '../../../src/log/jetstream/connection';

/** What NATS answers, with this code. */
const refusal = (code: number) => new JetStreamApiError({ code: 500, err_code: code, description: '' });

it.each([10071, 10164])('NATS says in old and new versions that a subject is taken: %d', (code) => {
  expect(isSubjectTaken(refusal(code))).toBe(true);
  expect(isSubjectTaken(refusal(10077))).toBe(false);
});
