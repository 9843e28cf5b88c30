import { JsonText } from '../events/cloudevents/json-text';
import { type Charset, MediaType } from '../http/content/media-type';
import { HTTP_ERRORS } from '../http/errors';
import { CallError } from '../service/call';
import { formFields, HttpInput } from './http-input';

interface NamedParameter {
  readonly name: string;
  readonly isRequired: boolean;
}

/** A call with parameters, as another thread can be given it. */
export interface ParametersMessage extends Pick<HttpInput, 'query' | 'headers' | 'body'> {
  readonly parameters: readonly NamedParameter[];
}

type GivenParameters = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the parameters of a call: the fields of the query string, and those of a form or a JSON object in the body, which replace
 * them. As over SOAP, all others are ignored. An optional field that a form leaves empty was not given: a browser sends every field.
 *
 * @throws {RequestError} there are too many fields, JSON that is not an object, or a form with files.
 */
export function readParameters(
  { query, headers, body, parameters }: ParametersMessage,
  mediaType = MediaType.parse(headers['content-type']),
): GivenParameters {
  const fields = fieldValues(query);
  const inBody = bodyParameters(new HttpInput(query, headers, mediaType, body));
  return new Map(parameters.map((one) => [one.name, inBody(one) ?? fields.get(one.name) ?? []]));
}

/** Returns a function that looks a parameter up in the body. */
function bodyParameters(input: HttpInput): (parameter: NamedParameter) => readonly string[] | undefined {
  const { mediaType, body } = input;
  if (mediaType === undefined || body.length === 0) return () => undefined;
  const { isForm, isJson, isMultipart } = mediaType;
  if (isMultipart) throw HTTP_ERRORS.formWithFiles();
  if (!isForm && !isJson) return () => undefined;
  const json = isForm ? input.jsonForm()?.json : (input.text() ?? '');
  if (json === undefined) {
    const fields = fieldValues(body.toString('latin1'), input.charset);
    return ({ name, isRequired }) => filled(fields.get(name), isRequired);
  }
  const members = membersOf(json);
  return ({ name }) => jsonTexts(name, members.get(name)?.trim());
}

function membersOf(json: string) {
  const text = new JsonText(json);
  if (text.hasTooManyParts()) throw HTTP_ERRORS.tooManyJsonParts();
  const members = text.members();
  if (members === undefined) throw HTTP_ERRORS.notAnObject();
  return members;
}

function filled(texts: readonly string[] | undefined, isRequired: boolean): readonly string[] | undefined {
  const kept = isRequired ? texts : texts?.filter((text) => text !== '');
  return kept?.length === 0 ? undefined : kept;
}

function fieldValues(encoded: string, charset?: Charset): GivenParameters {
  const fields = formFields(encoded, charset);
  if (fields === undefined) throw HTTP_ERRORS.tooManyFields();
  return fields.values;
}

/** The texts of a member, of which an array may hold several: the first two show that it is given more than once. Numbers keep their digits. */
function jsonTexts(name: string, value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const elements = value.startsWith('[') ? (new JsonText(value).elements(2) ?? []) : [value];
  return elements.flatMap((element) => jsonText(name, element));
}

function jsonText(name: string, value: string): readonly string[] {
  if (value === 'null') return [];
  if (value.startsWith('"')) return [JSON.parse(value) as string];
  if (/^[[{]/.test(value)) throw CallError.mustBe(name, 'a string, a number, true or false, or an array of these');
  return [value];
}
