import type { AuditDocument, JsonValue } from './document.ts'
import type { RequestOutline } from './request-outline.ts'

/** How much text is exported to a sink or stored in the log. */
export const contentLevels = ['none', 'redacted', 'full'] as const
export type ContentLevel = (typeof contentLevels)[number]

/** Texts of an event, stored apart from its hashed document so that they can be erased. */
export type AuditContent = {
  readonly redacted?: ContentTexts | undefined
  readonly full?: ContentTexts | undefined
  /** All changes of an administrator, including the texts of rules. Used by this installation only, never exported. */
  readonly details?: { readonly [key: string]: JsonValue | undefined } | undefined
}

export type ContentTexts = {
  readonly prompt?: string | undefined
  /** What was sent to the caller. */
  readonly response?: string | undefined
  /** What followed in the response and was not sent, because a check denied it. */
  readonly withheld?: string | undefined
  /** What else a request needs to be sent again. Used by this installation only, never exported. */
  readonly outline?: RequestOutline | undefined
  /** The rule of a changed policy. */
  readonly rule?: string | undefined
}

/** The texts that are kept: the full ones, or else the redacted ones. */
export const keptTexts = (content: AuditContent | undefined): ContentTexts | undefined =>
  content?.full ?? content?.redacted

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
 * Reverts `withContent` and removes the truncation marks, which only texts cause. The result is the hashed document, so an
 * export with texts can be verified as well as one without.
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
  return level === 'full' ? keptTexts(content) : content?.redacted
}
