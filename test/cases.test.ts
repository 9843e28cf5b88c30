import { itAnswersRecordedCases } from './support/recorded-cases';
import { useService } from './support/service';

describe('the exchanges recorded on the original', () => {
  const service = useService();

  itAnswersRecordedCases(() => service.url);
});
