import type { ContentPart } from '../../../domain/inference/request.ts'

/** System text as one text, its parts with blank lines between them. */
export const systemText = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' && isMeant(part.text) ? [part.text] : [])).join('\n\n')

/** Agents put a line there that changes with each request; it would spoil the prefix cache of every upstream but one. */
export const isMeant = (text: string): boolean => text !== '' && !text.startsWith('x-anthropic-billing-header:')
