import { itAnswersRecordedCases } from './support/recorded-service';
import { startService, type TestService } from './support/service';

describe('the exchanges recorded on the original', () => {
  let service: TestService;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  itAnswersRecordedCases(() => service.url);
});
