const announcement = document.getElementById('announcement');

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(textOf(code));
      say(button, 'Copied');
    } catch {
      // Browsers deny the clipboard to pages loaded over plain HTTP from another machine.
      getSelection().selectAllChildren(code);
      say(button, 'Press Ctrl+C or ⌘C');
    }
  });
}

/** The text of an element, with the characters themselves where it shows code points. */
function textOf(element) {
  const copy = element.cloneNode(true);
  for (const span of copy.querySelectorAll('.code-point')) {
    span.replaceWith(String.fromCodePoint(parseInt(span.textContent.slice('U+'.length), 16)));
  }
  return copy.textContent;
}

/** Takes back what was said last. */
let takeBack = () => undefined;

/** Tells the user what happened, on the button and through the screen reader. */
function say(button, text) {
  takeBack();
  button.textContent = text;
  announcement.textContent = text;
  const timer = setTimeout(() => takeBack(), 2000);
  takeBack = () => {
    clearTimeout(timer);
    button.textContent = 'Copy';
    announcement.textContent = '';
  };
}
