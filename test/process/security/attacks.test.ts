import { describeAttacks } from '../../security/attacks';

// The smallest with which a message can have too many elements: test/nightly/large-attacks.test.ts sends larger ones, and takes its time.
describeAttacks(1024 * 1024);
