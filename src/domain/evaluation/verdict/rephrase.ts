/** How a judge model rephrases a text that must not pass unchanged. */
export type Rephrasing = 'rewrite' | 'summary'

/** Has a model rephrase a text. Throws a Fault if that fails; the caller then denies the text. */
export type Rephrase = (text: string, kind: Rephrasing, signal: AbortSignal) => Promise<string>

export const isRephrasing = (decision: string): decision is Rephrasing =>
  decision === 'rewrite' || decision === 'summary'
