import type { AuditDocument, JsonValue } from './document.ts'

/** How much text may leave the gateway. */
export const contentLevels = ['none', 'redacted', 'full'] as const
export type ContentLevel = (typeof contentLevels)[number]

/** Texts that belong to an event, kept apart from its hashed document so that they can be erased. */
export type AuditContent = {
  readonly redacted?: ContentTexts | undefined
  readonly full?: ContentTexts | undefined
  /** All that an administrator changed, the texts of rules included; for this installation's own lists. */
  readonly details?: { readonly [key: string]: JsonValue | undefined } | undefined
}

export type ContentTexts = {
  readonly prompt?: string | undefined
  readonly response?: string | undefined
  /** The rule of a policy that was changed. */
  readonly rule?: string | undefined
}

/** The document with the texts that this level allows. */
export function withContent<D extends AuditDocument>(
  document: D,
  content: AuditContent | undefined,
  level: ContentLevel,
): D {
  const texts = textsAt(content, level)
  if (!texts) return document
  const { message_context: context, unmapped } = document
  return {
    ...document,
    ...(context && { message_context: { ...context, prompt_text: texts.prompt, response_text: texts.response } }),
    ...(texts.rule !== undefined && {
      unmapped: { ...unmapped, gatehouse: { ...unmapped.gatehouse, rule_text: texts.rule } },
    }),
  }
}

/**
 * Undoes `withContent`, and the marks of a cut that only texts can have caused: what is left is what was hashed.
 * So an export with texts can be checked against the chain as well as one without.
 */
export function withoutContent<D extends AuditDocument>(document: D): D {
  const { metadata, message_context: context, unmapped } = document
  return {
    ...document,
    metadata: { ...metadata, is_truncated: undefined, untruncated_size: undefined },
    message_context: context && { ...context, prompt_text: undefined, response_text: undefined },
    unmapped: { ...unmapped, gatehouse: { ...unmapped.gatehouse, rule_text: undefined } },
  }
}

function textsAt(content: AuditContent | undefined, level: ContentLevel): ContentTexts | undefined {
  if (level === 'none') return undefined
  return level === 'full' ? (content?.full ?? content?.redacted) : content?.redacted
}
