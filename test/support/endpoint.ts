import { Contract } from '../../src/contract/contract';
import type { Operation, Service } from '../../src/service/call';
import * as webhook from '../../src/service/webhook-service';
import * as telemetry from '../../src/telemetry/observer';
import { NAMESPACE } from './bindings';
import { startService } from './service';

/** An endpoint with a service object of a test's own. */
export type TestEndpoint = Awaited<ReturnType<typeof startEndpoint>>;

const silent: Operation = { access: 'open', run: () => Promise.resolve('') };

/**
 * Serves operations over all four bindings; with the service's own contract unless another is given. The other operations of the
 * contract return an empty text.
 */
export async function startEndpoint(operations: Service, given?: Contract) {
  const contract = given ?? (await Contract.load(NAMESPACE));
  const others = Object.fromEntries(contract.operations.map(({ name }) => [name, silent]));
  /** The calls that ended, in order. */
  const reports: Readonly<Record<'binding' | 'operation' | 'status' | 'isAnswered' | 'error', unknown>>[] = [];
  /** The hints for the operator, in order. */
  const hints: { key: string; message: string }[] = [];
  const { createObserver } = telemetry;
  jest.spyOn(Contract, 'load').mockResolvedValueOnce(contract);
  jest.spyOn(webhook, 'webhookService').mockReturnValueOnce({ ...others, ...operations });
  jest.spyOn(telemetry, 'createObserver').mockImplementationOnce((...all) => ({
    ...createObserver(...all),
    hint: (key, message) => void hints.push({ key, message }),
    ended: ({ binding, operation, response }, error) =>
      void reports.push({
        binding,
        operation: operation?.name,
        status: response.statusCode,
        isAnswered: Reflect.get(response, 'headersSent'),
        error,
      }),
  }));
  return { ...(await startService()), reports, hints };
}
