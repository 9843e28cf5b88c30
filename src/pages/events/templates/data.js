// Colours JSON and XML, and lets objects and arrays fold. A text with marks for what cannot be seen stays as it is.

/** More parts than these stay plain: browsers take a while to lay each of them out. */
const MAX_PARTS = 20_000;
const MAX_FOLDS = 1000;
const MAX_DEPTH = 20;

/** A name or a text, with the colon that makes it a name; a number, true, false or null. */
const JSON_PART = /("(?:[^"\\]|\\.)*"?)(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g;

/** A comment, declaration or processing instruction; a CDATA section; a tag. */
const XML_PART = /<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>|<[^\s"'<>](?:[^"'<>]|"[^"]*"|'[^']*')*>/g;

let parts = 0;
for (const data of document.querySelectorAll('[data-kind]')) {
  if (data.childElementCount > 0) continue;
  if (data.dataset.kind === 'JSON') data.replaceChildren(folded(data.textContent.split('\n')));
  if (data.dataset.kind === 'XML') data.replaceChildren(...coloured(data.textContent, XML_PART, xmlPart));
}

/** Each line that opens an object or array is the summary of what follows, to the line that closes it. */
function folded(lines) {
  const root = document.createDocumentFragment();
  const open = [root];
  let folds = 0;
  for (const [i, line] of lines.entries()) {
    const isLast = i === lines.length - 1;
    const nodes = [...coloured(line, JSON_PART, jsonPart), ...(isLast ? [] : ['\n'])];
    if (/[{[]$/.test(line) && open.length < MAX_DEPTH && folds < MAX_FOLDS && !isLast) {
      folds++;
      const details = Object.assign(document.createElement('details'), { open: true });
      const summary = document.createElement('summary');
      summary.append(...nodes.slice(0, -1), span('more', ''), '\n');
      details.append(summary);
      open.at(-1).append(details);
      open.push(details);
    } else {
      open.at(-1).append(...nodes);
      if (/[{[]$/.test(line)) open.push(open.at(-1));
      if (/^\s*[}\]],?$/.test(line) && open.length > 1) open.pop();
    }
  }
  return root;
}

/** The nodes of a text, with the parts that a pattern finds in colours. */
function* coloured(text, pattern, nodesOf) {
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (++parts > MAX_PARTS) break;
    yield text.slice(end, match.index);
    yield* nodesOf(match);
    end = match.index + match[0].length;
  }
  yield text.slice(end);
}

function jsonPart([part, text, colon]) {
  if (text === undefined) return [span('literal', part)];
  return [span(colon === undefined ? 'text' : 'key', text), colon ?? ''];
}

function xmlPart([part]) {
  if (part.startsWith('<![CDATA[')) return [part];
  if (/^<[!?]/.test(part)) return [span('comment', part)];
  // Values of attributes stand at the odd places.
  return part.split(/("[^"]*"|'[^']*')/).map((one, i) => span(i % 2 === 1 ? 'text' : 'key', one));
}

function span(className, textContent) {
  return Object.assign(document.createElement('span'), { className, textContent });
}
