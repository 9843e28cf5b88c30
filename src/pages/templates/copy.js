const announcement = document.getElementById('announcement');

for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const code = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(code.textContent);
      say(button, 'Copied');
    } catch {
      // Browsers give no clipboard to a page loaded over plain HTTP from another machine.
      getSelection().selectAllChildren(code);
      say(button, 'Press Ctrl+C or ⌘C');
    }
  });
}

/** Says on the button itself, and to screen readers, what has happened. */
function say(button, text) {
  button.textContent = text;
  announcement.textContent = text;
  setTimeout(() => {
    button.textContent = 'Copy';
    announcement.textContent = '';
  }, 2000);
}
