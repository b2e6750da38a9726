import { endOfMatch } from './look-behind.ts'
import { placeholderLabels } from './kinds.ts'

/** Stands for text of the caller's that only looks like a placeholder, so that restoring gives it back unchanged. */
export const literalLabel = 'LITERAL'

const labels = [...Object.values(placeholderLabels), literalLabel].join('|')

/** Any placeholder, in a text that holds some. */
export const placeholders = new RegExp(`\\[(?:${labels})_\\d{1,6}\\]`, 'g')

const placeholder = new RegExp(placeholders.source, 'y')

/** End of the placeholder that begins here, or -1. */
export const findPlaceholder = (text: string, start: number): number => endOfMatch(placeholder, text, start)

/** What a placeholder may look like while its end has not arrived yet. */
export const unfinishedPlaceholder = /\[[A-Z_]{0,14}\d{0,6}$/
