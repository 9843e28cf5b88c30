import { describeAttacks } from '../../security/attack-suite';
import { HTTP_ATTACKS } from '../../security/attacks/http';
import { bodyAttacks, SMALLEST_SIZE, xmlAttacks } from '../../security/attacks/xml';

// Small messages make the suite fast; test/nightly/large-attacks.test.ts sends large ones, and takes its time.
describeAttacks(SMALLEST_SIZE, [...xmlAttacks(SMALLEST_SIZE), ...bodyAttacks(SMALLEST_SIZE), ...HTTP_ATTACKS]);
