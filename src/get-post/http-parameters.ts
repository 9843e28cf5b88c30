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
  const input = new HttpInput(query, headers, mediaType, body);
  const fields = fieldValues(query);
  const given = bodyParameters(input, parameters);
  return new Map(parameters.map(({ name }) => [name, given.get(name) ?? fields.get(name) ?? []]));
}

/** Reads the parameters in the body. One that is not in it has no entry. */
function bodyParameters(input: HttpInput, parameters: readonly NamedParameter[]): GivenParameters {
  const given = new Map<string, readonly string[]>();
  const { mediaType, body } = input;
  if (mediaType === undefined || body.length === 0) return given;
  const { isForm, isJson, isMultipart } = mediaType;
  if (isMultipart) throw HTTP_ERRORS.formWithFiles();
  if (!isForm && !isJson) return given;
  const json = isForm ? input.jsonForm()?.json : (input.text() ?? '');
  const fields = json === undefined ? fieldValues(body.toString('latin1'), input.charset) : undefined;
  const members = json === undefined ? undefined : membersOf(json);
  for (const { name, isRequired } of parameters) {
    const member = members?.get(name);
    const texts = member === undefined ? filled(fields?.get(name), isRequired) : jsonTexts(name, member.value.trim());
    if (texts !== undefined) given.set(name, texts);
  }
  return given;
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
function jsonTexts(name: string, value: string): readonly string[] {
  const elements = value.startsWith('[') ? (new JsonText(value).elements(2) ?? []) : [value];
  return elements.flatMap((element) => jsonText(name, element));
}

function jsonText(name: string, value: string): readonly string[] {
  if (value === 'null') return [];
  if (value.startsWith('"')) return [JSON.parse(value) as string];
  if (/^[[{]/.test(value)) throw CallError.mustBe(name, 'a string, a number, true or false, or an array of these');
  return [value];
}
