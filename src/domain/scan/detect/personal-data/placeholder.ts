import { endOfMatch } from './look-behind.ts'
import { placeholderLabels } from './kinds.ts'

/** Escapes text of the caller that looks like a placeholder, so that restoring gives it back unchanged. */
export const literalLabel = 'LITERAL'

const labels = [...Object.values(placeholderLabels), literalLabel].join('|')

/** Matches every placeholder in a text. */
export const placeholders = new RegExp(`\\[(?:${labels})_\\d{1,6}\\]`, 'g')

const placeholder = new RegExp(placeholders.source, 'y')

/** End of the placeholder that begins here, or -1. */
export const findPlaceholder = (text: string, start: number): number => endOfMatch(placeholder, text, start)

/** Matches an unfinished placeholder at the end of a text. */
export const unfinishedPlaceholder = /\[[A-Z_]{0,14}\d{0,6}$/
