import type { Explanation, RequestContent } from './queries.ts'

type Span = Pick<Explanation['nearest'][number], 'part' | 'start' | 'end'>

/** The words of a span, if the texts are loaded. */
export function wordsOfSpan({ part, start, end }: Span, content: RequestContent | undefined): string | undefined {
  if (content === undefined || part === null || start === null || end === null) return undefined
  const message = /^messages\[(\d+)\]$/.exec(part)?.[1]
  const whole = part === 'response' ? content.response.text : content.messages[Number(message)]?.text
  const shown = whole?.slice(start, end)
  return shown === '' ? undefined : shown
}
