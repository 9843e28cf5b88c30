import { JsonText } from '../events/cloudevents/json-text';
import type { Charset } from '../http/content/charset';
import { HTTP_ERRORS } from '../http/errors';
import { CallError } from '../service/call';
import type { Steps } from '../util/promises';
import type { GivenTexts } from '../contract/schema';
import { FormFields } from './form-fields';
import type { HttpInput } from './http-input';

/**
 * Reads the parameters of these names in a call over HTTP GET or POST: the fields of the query string, and those of a form or the
 * members of a JSON object in the body, which replace fields of the same name. As over SOAP, all others are ignored. An optional field
 * that a form leaves empty was not given, since a browser sends every field.
 *
 * @throws {RequestError} there are too many fields, JSON that is not an object, or a form with files.
 */
export function* httpParameters(input: HttpInput, names: readonly string[]): Steps<GivenTexts> {
  const fields = yield* fieldValues(input.query);
  const body = yield* bodyParameters(input, names);
  return (parameter) => body?.(parameter) ?? textsOf(fields[parameter.name]) ?? [];
}

type NamedParameter = Parameters<GivenTexts>[0];

/** Reads the parameters in the body; of one that it does not have there are none, not even an empty list. */
function* bodyParameters(
  input: HttpInput,
  names: readonly string[],
): Steps<((parameter: NamedParameter) => readonly string[] | undefined) | undefined> {
  const { mediaType, body } = input;
  if (mediaType === undefined || body.length === 0) return undefined;
  const { isForm, isJson, isMultipart } = mediaType;
  if (isMultipart) throw HTTP_ERRORS.formWithFiles();
  if (!isForm && !isJson) return undefined;
  const json = isForm ? (yield* input.jsonForm())?.json : ((yield* input.text()) ?? '');
  if (json === undefined) return formParameters(yield* fieldValues(body.toString('latin1'), input.charset));
  const text = new JsonText(json);
  if (text.hasTooManyParts()) throw HTTP_ERRORS.tooManyJsonParts();
  const members = yield* text.members();
  if (members === undefined) throw HTTP_ERRORS.notAnObject();
  const given = new Map<string, readonly string[]>();
  for (const name of names) {
    const member = members.get(name);
    if (member !== undefined) given.set(name, yield* jsonTexts(name, member.value.trim()));
  }
  return ({ name }) => given.get(name);
}

function formParameters(fields: FormFields['values']): (parameter: NamedParameter) => readonly string[] | undefined {
  return ({ name, isRequired }) => {
    const texts = textsOf(fields[name]);
    if (isRequired) return texts;
    const filled = texts?.filter((text) => text !== '');
    return filled?.length === 0 ? undefined : filled;
  };
}

function* fieldValues(encoded: string, charset?: Charset): Steps<FormFields['values']> {
  const fields = yield* FormFields.read(encoded, charset);
  if (fields === undefined) throw HTTP_ERRORS.tooManyFields();
  return fields.values;
}

function textsOf(value: string | readonly string[] | undefined): readonly string[] | undefined {
  return typeof value === 'string' ? [value] : value;
}

/**
 * The texts of a member, of which an array may hold several: the first two show that it is given more than once. Numbers keep their
 * digits.
 */
function* jsonTexts(name: string, value: string): Steps<readonly string[]> {
  if (!value.startsWith('[')) return jsonText(name, value);
  const elements = (yield* new JsonText(value).elements(2)) ?? [];
  return elements.flatMap((element) => jsonText(name, element));
}

function jsonText(name: string, value: string): readonly string[] {
  if (value === 'null') return [];
  if (value.startsWith('"')) return [JSON.parse(value) as string];
  if (/^[[{]/.test(value)) throw CallError.mustBe(name, 'a string, a number, true or false, or an array of these');
  return [value];
}
