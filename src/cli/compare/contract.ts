import { Contract } from '../../contract/contract';
import { quoted } from '../terminal';

/** A fact about a part of a contract, such as an operation. */
export interface ContractFact {
  /** The key of the part that it is about, or that this part is in; empty for the contract itself. */
  readonly within: string;
  /** Undefined: the part is there. A list: the order of the parts inside it, by name. */
  readonly value: string | readonly string[] | undefined;
}

/** A WSDL as a generated client sees it. */
export interface ContractFacts {
  readonly targetNamespace: string;
  /** By their places, as messages name them: `binding A, operation B: SOAPAction`. */
  readonly facts: ReadonlyMap<string, ContractFact>;
}

/**
 * Describes each difference of two contracts in a sentence. A part that only one has is one difference, without the facts about it.
 * Texts that begin with the namespace of their own contract, or that of its SOAPActions, are compared without it: the namespaces
 * themselves are compared once.
 */
export function differencesOf(old: ContractFacts, other: ContractFacts): string[] {
  const keys = [...new Set([...old.facts.keys(), ...other.facts.keys()])].sort();
  return keys.flatMap((key) => {
    const [before, after] = [old.facts.get(key), other.facts.get(key)];
    const { within = '', value } = before ?? after ?? {};
    if (within !== '' && !(old.facts.has(within) && other.facts.has(within))) return [];
    const place = key.charAt(0).toUpperCase() + key.slice(1);
    if (value === undefined) {
      const only = before === undefined ? 'new' : 'old';
      return before === undefined || after === undefined ? [`${place} is only in the ${only} service.`] : [];
    }
    const [oldText, newText] = [textOf(before, after), textOf(after, before)];
    if (relative(oldText, old.targetNamespace) === relative(newText, other.targetNamespace)) return [];
    return [`${place} is ${shown(oldText)} in the old service, ${shown(newText)} in the new one.`];
  });
}

/** The value of a fact; of a list those that the other has too. */
function textOf(fact: ContractFact | undefined, other: ContractFact | undefined): string | undefined {
  if (typeof fact?.value !== 'object') return fact?.value;
  const common = new Set(other?.value);
  return [...new Set(fact.value)].filter((name) => common.has(name)).join(', ');
}

/** Puts a mark in place of the namespace, or the beginning of its SOAPActions, that a text begins with. */
function relative(text: string | undefined, namespace: string): string | undefined {
  if (text === undefined || namespace === '') return text;
  if (text === namespace) return '\0';
  const actions = Contract.actionOf(namespace, '');
  if (text.startsWith(actions)) return `\0/${text.slice(actions.length)}`;
  return text.startsWith(namespace) ? `\0${text.slice(namespace.length)}` : text;
}

function shown(text: string | undefined): string {
  if (text === undefined) return 'not there';
  return text === '' ? 'empty' : quoted(text);
}
