for (const button of document.querySelectorAll('[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const sample = document.getElementById(button.dataset.copy);
    const status = document.getElementById('copied');
    try {
      await navigator.clipboard.writeText(sample.textContent);
      status.textContent = 'Copied.';
    } catch {
      // A page that came over plain HTTP from another machine has no clipboard.
      getSelection().selectAllChildren(sample);
      status.textContent = 'Selected. Copy it with the keyboard.';
    }
    button.textContent = status.textContent === 'Copied.' ? 'Copied' : 'Selected';
    setTimeout(() => {
      button.textContent = 'Copy';
      status.textContent = '';
    }, 2000);
  });
}
