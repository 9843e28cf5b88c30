/**
 * Characters that are not visible as they stand or that change how others are shown: controls, marks of the writing direction,
 * line separators, joiners, fillers, tags, halves of characters. Variation selectors are left: they belong to the emoji before
 * them.
 */
const INVISIBLE = /(?![\t\n]|\p{Variation_Selector})[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** Replaces each character that cannot be seen, but for tabs and line feeds. */
export function replaceInvisible(text: string, replacement: (character: string) => string): string {
  return text.replace(INVISIBLE, replacement);
}
