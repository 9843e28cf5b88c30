import type { RefusedCall } from '../../telemetry/refused-calls';
import { bindingView } from './list-view';
import { shownText, timeText } from './markup';

const NONE = '–';

/** Most bytes of a reason as markup: a hundred of them have to fit into a page. */
const REASON_BYTES = 900;
const CELL_BYTES = 250;

/** Shows a refused call as a row of the table. What a caller wrote is HTML. */
export function refusalView(call: RefusedCall) {
  const { time, remoteAddress, binding, operation, path, status, refusal, reason, requestId } = call;
  const cell = (text: string | undefined) => shownText(text ?? NONE, CELL_BYTES);
  return {
    time: timeText(time),
    dateTime: new Date(time).toISOString(),
    address: cell(remoteAddress),
    ...bindingView(binding),
    called: operation === undefined ? '' : cell(operation),
    path: cell(path),
    status: status === undefined ? NONE : String(status),
    /** The kind of refusal; `failed` for a valid call that the service could not answer. */
    word: refusal ?? 'failed',
    reason: shownText(reason, REASON_BYTES),
    requestId: cell(requestId),
  };
}
