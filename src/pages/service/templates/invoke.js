// Calls the operation and shows the answer on the page. Without this script the browser shows the raw answer.
const byId = (id) => document.getElementById(id);
const form = byId('call');
const body = byId('body');
const contentType = byId('content-type');
const key = byId('key');
const link = byId('answer-link');
const eventLink = byId('event-link');
const raw = byId('raw');
// A field named `action` would hide form.action.
const url = form.getAttribute('action');
let isCalling = false;
let isRaw = false;
let texts = { raw: '', indented: '' };

for (const field of document.querySelectorAll('[data-scripted]')) field.hidden = false;
if (body !== null) {
  // Sent as the whole body, not as a field.
  body.removeAttribute('name');
  showExample();
  contentType.addEventListener('change', showExample);
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (isCalling) return;
  isCalling = true;
  byId('outcome').className = '';
  byId('outcome').textContent = 'Waiting for the answer …';
  try {
    await call();
  } catch (error) {
    byId('answer').hidden = true;
    fail(`No answer: ${error.message}. Check that the service runs and can be reached.`);
  } finally {
    isCalling = false;
  }
});

raw.addEventListener('click', () => {
  isRaw = !isRaw;
  raw.setAttribute('aria-pressed', String(isRaw));
  showAnswer();
});

async function call() {
  const started = performance.now();
  const fields = givenFields();
  const response = await fetch(body === null ? url : withQuery(fields), {
    method: 'POST',
    // Errors come as problem details, whose text is not escaped for HTML.
    headers: {
      Accept: 'text/xml;q=0.9, application/problem+json',
      ...(body !== null && { 'Content-Type': contentType.value }),
      ...(key !== null && key.value !== '' && { 'X-API-Key': key.value }),
    },
    body: body === null ? fields : body.value,
    // With credentials, the browser would ask for a password when the key is wrong.
    ...(key !== null && { credentials: 'omit' }),
  });
  const text = await response.text();
  const milliseconds = Math.round(performance.now() - started);
  texts = { raw: text, indented: response.ok && text !== '' ? indented(text) : problemText(text) };
  if (link !== null) {
    link.hidden = false;
    link.firstElementChild.href = withQuery(fields);
  }
  if (eventLink !== null) {
    eventLink.hidden = !response.ok || text === '';
    if (!eventLink.hidden) eventLink.firstElementChild.search = `?event&id=${encodeURIComponent(resultOf(text))}`;
  }
  byId('answer').hidden = false;
  showAnswer();
  const status = `${response.status} ${response.statusText}`.trim();
  if (response.ok) byId('outcome').textContent = `${status}, after ${milliseconds} ms`;
  else if (response.status === 401 && key !== null) fail(`${status}: ${key.dataset.needed}`);
  else fail(status);
}

/** The fields that are filled in. */
function givenFields() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value !== '') fields.append(name, value);
  return fields;
}

function withQuery(fields) {
  return `${fields}` === '' ? url : `${url}?${fields}`;
}

function fail(message) {
  byId('outcome').className = 'failed';
  byId('outcome').textContent = message;
}

function showAnswer() {
  byId('answer-text').textContent = isRaw ? texts.raw : texts.indented;
}

/** The text inside the root element. */
function resultOf(xml) {
  return new DOMParser().parseFromString(xml, 'text/xml').documentElement.textContent;
}

/** The text of problem details (RFC 9457), or of any other answer. */
function problemText(text) {
  try {
    return JSON.parse(text).detail ?? text;
  } catch {
    return text;
  }
}

/** Puts the result on lines of its own, indented if it is JSON. Its escapes are those of XML, plain text to JSON. */
function indented(xml) {
  const [, before, result, after] = /^(<\?xml[^>]*>\s*<[^>]*>)([^<]+)(<\/[^>]*>)\s*$/.exec(xml) ?? [];
  if (result === undefined) return xml;
  try {
    return `${before}\n  ${indentedJson(result, 1)}\n${after}`;
  } catch {
    return `${before}\n  ${result}\n${after}`;
  }
}

/**
 * Indents JSON token by token, so that numbers keep all their digits.
 *
 * @throws it is not JSON.
 */
function indentedJson(json, outerDepth) {
  JSON.parse(json);
  let depth = outerDepth;
  // Deeper levels would take more room for spaces than for what they hold.
  const newLine = () => `\n${'  '.repeat(Math.min(depth, 40))}`;
  return json.replace(/"[^"\\]*(?:\\.[^"\\]*)*"|[[{]\s*[\]}]|[[\]{},:]|\s+/g, (token) => {
    if (token.startsWith('"')) return token;
    if (/^[[{]\s*[\]}]$/.test(token)) return token[0] + token.at(-1);
    if (token === ',') return token + newLine();
    if (token === ':') return ': ';
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else return '';
    return token === '{' || token === '[' ? token + newLine() : newLine() + token;
  });
}

/** Puts an example of the chosen content type into the body, unless something else was written there. */
function showExample() {
  const examples = [...contentType.options].map((option) => option.dataset.example);
  if (body.value !== '' && !examples.includes(body.value)) return;
  body.value = contentType.selectedOptions[0].dataset.example;
}
