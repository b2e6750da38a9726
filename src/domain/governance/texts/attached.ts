import { readingOf } from '../../moderation/hidden-text.ts'

/** Texts that travel as files: in base64, some of them with `data:text/plain;base64,` before it. */

const label = /^data:[^,]{0,200},/
/** So much shows whether a file is a text. */
const glimpse = 4_096

/** The text of a file; undefined where it is none: a picture, a sound, a PDF. A text with a few odd bytes is still one. */
export function attachedText(data: string): string | undefined {
  const base64 = data.replace(label, '')
  const head = decoded(base64.slice(0, glimpse))
  const isText = readingOf(head) !== 'noise' && !head.startsWith('%PDF-')
  return isText ? decoded(base64) : undefined
}

/** The same file with its text changed. */
export function changeAttached(data: string, change: (text: string) => string): string {
  const text = attachedText(data)
  const changed = text && change(text)
  if (changed === undefined || changed === text) return data
  return `${label.exec(data)?.[0] ?? ''}${Buffer.from(changed).toString('base64')}`
}

const decoded = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8')
