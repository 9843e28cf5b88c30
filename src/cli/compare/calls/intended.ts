import type { SeenAnswer } from './answers';
import { canonicalText } from './canonical-text';
import { canonicalWithoutHeader, faultIn, type SoapFault } from './fault';

/** What the service answers first to a message that it cannot read; what follows are the words of the XML parser. */
const UNREADABLE = 'Server was unable to read request.';

const SAYS_WHY = 'the new service says in a fault why the message cannot be read';

/**
 * Says why the new service answers otherwise on purpose; undefined: it is not one of these cases, which are listed in
 * docs/migrating.md. Each is matched as narrowly as the original answers.
 */
export function intended(old: SeenAnswer, other: SeenAnswer): string | undefined {
  const before = faultIn(old.xml);
  const after = faultIn(other.xml);
  if (isUnreadable(after) && other.status === 400) {
    if (old.status === 400 && old.text === '' && sameType(old, other)) return SAYS_WHY;
    const blamesItself = old.status === 500 && before?.code === 'Receiver' && sameType(old, other);
    if (blamesItself && before.text.startsWith('Server was unable to process request.'))
      return 'the new service says that the caller made the mistake (SOAP 1.2 part 2, section 7.5.2.2)';
  }
  if (old.status !== other.status || !sameType(old, other)) return undefined;
  if (isUnreadable(before) && isUnreadable(after) && before.code === after.code)
    return 'only the words of the XML parser differ';
  if (old.xml === undefined || other.xml === undefined || after?.code !== 'MustUnderstand') return undefined;
  if (canonicalWithoutHeader(other.xml, 'NotUnderstood') === canonicalText(old.xml))
    return 'the new service names the header in a NotUnderstood block (SOAP 1.2 part 1, section 5.4.8)';
  return undefined;
}

function isUnreadable(fault: SoapFault | undefined): fault is SoapFault {
  return fault?.text.startsWith(UNREADABLE) === true && (fault.code === 'Client' || fault.code === 'Sender');
}

function sameType(old: SeenAnswer, other: SeenAnswer): boolean {
  return old.headers.get('content-type') === other.headers.get('content-type');
}
