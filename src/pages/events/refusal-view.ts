import type { RefusedCall } from '../../telemetry/refused-calls';
import { bindingView } from './list-view';
import { shownText, timeText } from './markup';

/** A refused call for its table; its texts are HTML. */
export interface RefusalView {
  readonly time: string;
  readonly dateTime: string;
  readonly address: string;
  readonly binding: string | undefined;
  readonly bindingName: string;
  /** The operation; empty: it was not known yet. */
  readonly called: string;
  readonly path: string;
  readonly status: string;
  /** The kind of refusal; `failed`: the call was valid. */
  readonly word: string;
  readonly reason: string;
  readonly requestId: string;
}

const NONE = '–';

/** Most bytes of a reason as markup: a hundred of them have to fit into a page. */
const REASON_BYTES = 900;
const CELL_BYTES = 250;

export function refusalView(call: RefusedCall): RefusalView {
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
    word: refusal ?? 'failed',
    reason: shownText(reason, REASON_BYTES),
    requestId: cell(requestId),
  };
}
