for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const sample = document.getElementById(button.dataset.copy);
    const status = document.getElementById('copied');
    try {
      await navigator.clipboard.writeText(sample.textContent);
      status.textContent = 'Copied.';
    } catch {
      // Browsers give no clipboard to a page loaded over plain HTTP from another machine.
      getSelection().selectAllChildren(sample);
      status.textContent = 'Selected. Press Ctrl+C or ⌘C to copy.';
    }
    button.textContent = status.textContent === 'Copied.' ? 'Copied' : 'Selected';
    setTimeout(() => {
      button.textContent = 'Copy';
      status.textContent = '';
    }, 2000);
  });
}
