/** Puts what is on this machine in the place of what a file of deploy/ names, wherever it names it; each must be in it. */
export function adapted(text: string, values: Readonly<Record<string, string>>): string {
  return Object.entries(values).reduce((result, [from, to]) => {
    expect(result).toContain(from);
    return result.replaceAll(from, () => to);
  }, text);
}
