/** How a text that may not stand as it is can be written anew. */
export type Rephrasing = 'rewrite' | 'summary'

/** Asks a model to write a text anew, so that it may stand. Throws a Fault where it cannot: the text is then refused. */
export type Rephrase = (text: string, kind: Rephrasing, signal: AbortSignal) => Promise<string>

export const isRephrasing = (decision: string): decision is Rephrasing =>
  decision === 'rewrite' || decision === 'summary'
