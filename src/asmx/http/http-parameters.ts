import { elementTexts, hasTooManyParts, memberTexts } from '../../events/cloudevents/json-text';
import { RequestError } from '../../http/request-error';
import { ParameterError } from '../../service/call';
import type { GivenTexts } from '../parameters/values';
import { parseFormFields, type NamedValues } from './form-fields';
import { bodyCharset, bodyText, FORM, isJsonType, jsonForm, type HttpInput } from './http-payload';

/**
 * Reads the parameters of a call over HTTP GET or POST: the fields of the query string, and those of a form or the members
 * of a JSON object in the body, which replace fields of the same name. As over SOAP, what the operation does not take is
 * ignored. An optional field that a form leaves empty was not given, since a browser sends every field.
 *
 * @throws {RequestError} there are too many fields, or JSON that is no object.
 */
export function httpParameters(input: HttpInput): GivenTexts {
  const fields = fieldValues(input.query);
  const json = jsonBody(input);
  if (json !== undefined) {
    const members = membersOf(json);
    return ({ name }) => {
      const member = members.get(name);
      return member === undefined ? textsOf(fields[name]) : jsonTexts(name, member.value.trim());
    };
  }
  const form = formFields(input);
  return ({ name, minOccurs }) => {
    const given = textsOf(form[name]).filter((text) => text !== '' || minOccurs > 0);
    return given.length > 0 ? given : textsOf(fields[name]);
  };
}

/** The JSON that the body consists of, whatever it is called; undefined if it is something else. */
function jsonBody({ mediaType, body }: HttpInput): string | undefined {
  if (mediaType === undefined || body.length === 0) return undefined;
  if (isJsonType(mediaType.essence)) return bodyText(mediaType, body) ?? '';
  return mediaType.essence === FORM ? jsonForm(mediaType, body) : undefined;
}

function formFields({ mediaType, body }: HttpInput): NamedValues {
  return mediaType?.essence === FORM ? fieldValues(body.toString('latin1'), bodyCharset(mediaType, body)) : {};
}

function fieldValues(encoded: string, charset?: string): NamedValues {
  const fields = parseFormFields(encoded, charset);
  if (fields === undefined) throw new RequestError(400, 'The query string or the form has too many fields.');
  return fields.values;
}

function textsOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function membersOf(json: string): ReturnType<typeof memberTexts> {
  if (hasTooManyParts(json)) throw new RequestError(400, 'The JSON has more than 100,000 objects, arrays and members.');
  if (!isJsonObject(json)) throw new RequestError(400, 'The body must be a JSON object of the parameters.');
  return memberTexts(json);
}

function isJsonObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** The texts of a member: an array stands for a repeated parameter. Numbers keep their digits. */
function jsonTexts(name: string, value: string): readonly string[] {
  return value.startsWith('[')
    ? elementTexts(value).flatMap((element) => jsonText(name, element))
    : jsonText(name, value);
}

function jsonText(name: string, value: string): readonly string[] {
  if (value === 'null') return [];
  if (value.startsWith('"')) return [JSON.parse(value) as string];
  if (/^[[{]/.test(value)) throw ParameterError.mustBe(name, 'a string, a number, true or false, or an array of these');
  return [value];
}
