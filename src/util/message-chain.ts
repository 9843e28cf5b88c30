/** Joins the messages of an error and its causes, outermost first, as ASP.NET chains them. */
export function messageChain(error: unknown): string {
  const messages: string[] = [];
  for (let link = error; link instanceof Error; link = link.cause) messages.push(link.message);
  return messages.join(' ---> ') || 'Unknown error.';
}
